export const schema = { description: "Say nothing.", type: "object", properties: {} };

export default async function () {}
