export const schema = {description: "Do it.", type: "object", properties: {}};
export default ({params}) => ({content: [{type: 'text', text: 'x'.repeat(params.arguments.size)}]});
