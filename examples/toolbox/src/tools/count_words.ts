// A tool is called as its file is. What it returns is the result, as it stands.

export const schema = {
  title: "Count words",
  description: "Count the words of a text, and how often each of them stands there.",
  type: "object",
  properties: {
    text: { type: "string", description: "The text to look at" },
    most: { type: "integer", description: "So many of the words are told, the most frequent first", default: 3 },
  },
  required: ["text"],
  annotations: { readOnlyHint: true },
};

interface Request {
  params: { arguments: { text: string; most?: number } };
}

export default async function ({ params }: Request) {
  const { text, most = 3 } = params.arguments;
  if (typeof text !== "string" || !text.trim()) throw new Error("there is no text to count the words of");
  const counts = new Map<string, number>();
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1);
  const frequent = [...counts].sort(([a, m], [b, n]) => n - m || a.localeCompare(b)).slice(0, most);
  const words = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const told = frequent.map(([word, count]) => `${word} ${count}`).join(", ");
  return { content: [{ type: "text", text: `${words} words: ${told}` }] };
}
