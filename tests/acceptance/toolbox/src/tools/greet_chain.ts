import { callToolHandler } from "../handler/ToolHandler.js";

export const schema = { description: "Greet through another tool.", type: "object", properties: {} };

export default async function (request: any) {
  const name = request.params.arguments?.call ?? "hello_world";
  return callToolHandler({ params: { name, arguments: { name: "Chain" } } }, "greet_chain_1");
}
