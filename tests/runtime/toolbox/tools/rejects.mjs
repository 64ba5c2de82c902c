export const schema = {description: "Do it.", type: "object", properties: {}};
export default () => { Promise.reject(new Error('lost')); return {content: []}; };
