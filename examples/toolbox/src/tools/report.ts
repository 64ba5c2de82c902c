// A tool may call others of the same server, whatever they are written in; the log says who called whom.

import { callToolHandler } from "../handler/ToolHandler.js";

export const schema = {
  title: "Report on a text",
  description: "Say what a text is about: its words, and a name for the file to keep it in.",
  type: "object",
  properties: { title: { type: "string" }, text: { type: "string" } },
  required: ["title", "text"],
};

export default async function (request: { params: { arguments: { title: string; text: string } } }) {
  const { title, text } = request.params.arguments;
  const count = await callToolHandler({ params: { name: "count_words", arguments: { text } } }, "report_count");
  if (count.isError) return count;
  const name = await callToolHandler({ params: { name: "file_name", arguments: { title } } }, "report_name");
  return { content: [...count.content, ...name.content] };
}

export function destroy() {
  console.log("the report is closed"); // goes to standard error, never to the client
}
