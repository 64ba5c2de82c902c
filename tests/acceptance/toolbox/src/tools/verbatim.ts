export const schema = {
  title: "As it is",
  description: "Give back a whole result.",
  type: "object",
  properties: {},
  annotations: { readOnlyHint: true },
};

export default (request: any) => ({
  content: [{ type: "text", text: JSON.stringify(request.params) }],
  structuredContent: { seen: "arguments" in request.params },
  _meta: { "example.org/mark": 1 },
});
