// Describes the bundled tools of a project: each is imported in this separate process, and described.
// A line of JSON for each is written to a separate descriptor; the output of tools goes elsewhere.

import { writeSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { surround } from "./surroundings.mjs";

const [said, home, words] = process.argv.slice(2);
const folder = process.cwd();
const { tools, prompts, resources, seconds } = JSON.parse(words);
const refused = async () => ({ content: [{ type: "text", text: '"no tool is called while a server is built"' }], isError: true });
const none = async () => ({});

surround(pathToFileURL(join(folder, "host.mjs")), home, "", {
  callToolHandler: refused,
  listToolsHandler: async () => ({ tools: [] }),
  loadTools: none,
});
process.on("uncaughtException", () => {});
process.on("unhandledRejection", () => {});

function tell(row) {
  const data = Buffer.from(`${JSON.stringify(row)}\n`);
  for (let at = 0; at < data.length; ) at += writeSync(Number(said), data, at);
}

function told(problem) {
  return { message: String(problem?.message ?? problem), stack: String(problem?.stack ?? "") };
}

function within(promise) {
  const late = new Promise((_, reject) => {
    setTimeout(() => reject(new Error(`it was not imported in ${seconds} seconds`)), seconds * 1000).unref();
  });
  return Promise.race([promise, late]);
}

function written(value) {
  try {
    return { schema: value === undefined ? undefined : JSON.parse(JSON.stringify(value) ?? "null") };
  } catch (problem) {
    return { unwritten: told(problem).message };
  }
}

async function described(path) {
  try {
    const module = await within(import(pathToFileURL(join(folder, path))));
    return { handler: typeof module.default, exported: Object.keys(module), ...written(module.schema) };
  } catch (problem) {
    return { failure: told(problem) };
  }
}

async function listed(path) {
  try {
    const module = await within(import(pathToFileURL(join(folder, path))));
    const list = typeof module.listPromptsHandler === "function" ? await within(module.listPromptsHandler({})) : {};
    return { exported: Object.keys(module), prompts: JSON.parse(JSON.stringify(list?.prompts ?? [])) };
  } catch (problem) {
    return { failure: told(problem) };
  }
}

for (const [name, path] of Object.entries(tools)) {
  tell({ begins: name });
  tell({ tool: name, ...(await described(path)) });
}
for (const [kind, path] of [["prompts", prompts], ["resources", resources]]) {
  if (path) tell({ begins: kind });
  if (path) tell({ kind, ...(await listed(path)) });
}
tell({ end: true });
process.exit(0);
