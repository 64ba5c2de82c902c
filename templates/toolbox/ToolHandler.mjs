// What a project's tools import as `../handler/ToolHandler.js`.

const { callToolHandler, listToolsHandler, loadTools } = globalThis[Symbol.for("mcpc.toolbox")];

export { callToolHandler, listToolsHandler, loadTools };
