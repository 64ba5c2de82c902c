export const schema = {description: "Do it.", type: "object", properties: {}};
export default ({params}) => ({content: [{type: 'text', text: `${process.env[params.arguments.of]}`}]});
