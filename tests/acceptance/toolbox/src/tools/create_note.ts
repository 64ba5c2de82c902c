export const notes: Record<string, { title: string; content: string }> = {};

export const schema = {
  description: "Keep a note.",
  type: "object",
  properties: { title: { type: "string" }, content: { type: "string" } },
  required: ["title", "content"],
};

export default async function (request: any) {
  const { title, content } = request.params.arguments;
  const id = `${Object.keys(notes).length + 1}`;
  notes[id] = { title, content };
  const text = JSON.stringify({ message: `Created note ${id}: ${title}`, id }, null, 2);
  return { content: [{ type: "text", text }] };
}
