import { execSync } from "child_process";
import { loadTools } from "../handler/ToolHandler.js";

export const schema = { name: "buildReload_tool", description: "Build.", type: "object", properties: {} };

export default async function () {
  execSync("npm run build");
  return { content: [{ type: "text", text: `${Object.keys(await loadTools(true)).length}` }] };
}
