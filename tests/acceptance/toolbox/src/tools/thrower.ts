export const schema = { description: "Fail.", type: "object", properties: {} };

export default async function () {
  throw new Error('boom "q"');
}
