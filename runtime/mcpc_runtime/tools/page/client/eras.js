// The revisions of the protocol that the page speaks, by era.

export const STATELESS = ["2026-07-28"];
export const HANDSHAKE = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
export const LOG_LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
export const CLIENT = { name: "mcpc-page", title: "The page of mcpc", version: "1" };
export const TASKS = "io.modelcontextprotocol/tasks";
export const APPS = "io.modelcontextprotocol/ui";
export const APP_TYPE = "text/html;profile=mcp-app";
export const PREFIX = "io.modelcontextprotocol/";

const EXTENSIONS = { [APPS]: { mimeTypes: [APP_TYPE] } };

/** Return what the page says that it can: a person answers all that a server may ask. */
export function capabilities(version) {
  if (STATELESS.includes(version)) {
    return { elicitation: { form: {}, url: {} }, sampling: {}, roots: {}, extensions: { ...EXTENSIONS, [TASKS]: {} } };
  }
  const elicitation = version >= "2025-11-25" ? { elicitation: { form: {}, url: {} } } : version >= "2025-06-18" ? { elicitation: {} } : {};
  return { ...elicitation, sampling: {}, roots: { listChanged: true }, ...(version >= "2025-11-25" ? { extensions: EXTENSIONS } : {}) };
}
