export const schema = {
  name: "hello_world_other",
  description: "Greet somebody.",
  type: "object",
  properties: {
    name: { type: "string", description: "whom" },
    language: { type: "string", enum: ["en", "fr", "zh"], default: "en" },
  },
  required: ["name"],
};

type Greeting = (name: string) => string;

const greetings: Record<string, Greeting> = {
  en: (name) => `Hello, ${name}!`,
  fr: (name) => `Bonjour, ${name}!`,
  zh: (name) => `你好,${name}!`,
};

export default async function (request: any) {
  try {
    const { name, language = "en" } = request.params.arguments;
    if (typeof name !== "string" || !name.trim()) throw new Error("The name parameter must be a non-empty string");
    return { content: [{ type: "text", text: greetings[language](name) }] };
  } catch (problem: any) {
    return { content: [{ type: "text", text: `Error: ${problem.message}` }], isError: true };
  }
}
