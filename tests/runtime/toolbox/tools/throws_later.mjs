export const schema = {description: "Do it.", type: "object", properties: {}};
export default () => { setTimeout(() => { throw new Error('late'); }, 1); return {content: []}; };
