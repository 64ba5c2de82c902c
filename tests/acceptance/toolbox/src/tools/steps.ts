import { callToolHandler } from "../handler/ToolHandler.js";

export const schema = {
  description: "Run tools one after the other, and make good what failed.",
  type: "object",
  properties: { steps: { type: "array", items: { type: "object" } } },
};

export default async function (request: any) {
  const told: string[] = [];
  for (const [at, step] of request.params.arguments.steps.entries()) {
    const result = await callToolHandler({ params: { name: step.tool, arguments: step.args } }, `steps_step_${at}`);
    told.push(`${step.tool}: ${result.isError ? "failed" : "done"}`);
    if (result.isError && step.instead) {
      await callToolHandler({ params: { name: step.instead, arguments: step.args } }, `steps_instead_${at}`);
    }
  }
  return { content: [{ type: "text", text: told.join("\n") }] };
}
