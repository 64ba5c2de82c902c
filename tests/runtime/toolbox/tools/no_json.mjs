export const schema = {description: "Do it.", type: "object", properties: {}};
export default () => ({content: [{type: 'text', text: 1n}]});
