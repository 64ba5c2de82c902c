import { callToolHandler } from "../handler/ToolHandler.js";

export const schema = { description: "Report the weather.", type: "object", properties: { city: { type: "string" } } };

export default async function (request) {
  const found = await callToolHandler({ params: { ...request.params, name: "weather_source" } }, "weather_report_fetch");
  const { sky, degrees } = found.content[0].text;
  return { content: [{ type: "text", text: `${request.params.arguments.city}: ${sky}, ${degrees} degrees` }] };
}
