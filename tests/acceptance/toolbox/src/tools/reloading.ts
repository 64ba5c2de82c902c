import { loadTools } from "../handler/ToolHandler.js";

export const schema = { description: "Load every tool anew.", type: "object", properties: {} };

export default async function () {
  const handlers = await loadTools(true);
  return { content: [{ type: "text", text: Object.keys(handlers).sort().join(" ") }] };
}
