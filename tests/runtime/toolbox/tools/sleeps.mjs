export const schema = {description: "Do it.", type: "object", properties: {}};
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
export default async ({params}) => { await sleep(params.arguments.ms); return {content: []}; };
