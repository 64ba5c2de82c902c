export const schema = { description: "Tell the weather.", type: "object", properties: { city: { type: "string" } } };

export default async ({ params }) => ({
  content: [{ type: "text", text: { sky: "clear", degrees: params.arguments.city.length } }],
});
