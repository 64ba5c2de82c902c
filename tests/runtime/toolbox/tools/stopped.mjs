export const schema = {description: "Do it.", type: "object", properties: {}};
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
let seen = 'nothing';
export default async ({params}, {signal}) => {
  if (params.arguments?.ask) return {content: [{type: 'text', text: seen}]};
  signal.addEventListener('abort', () => { seen = 'aborted'; });
  await sleep(60000);
};
