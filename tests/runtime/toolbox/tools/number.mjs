export const schema = {description: "Do it.", type: "object", properties: {}};
export default () => 5;
