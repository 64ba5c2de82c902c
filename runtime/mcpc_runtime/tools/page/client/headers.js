// The headers by which a stateless request repeats its body (2026-07-28, Streamable HTTP).

const NAMED = { "tools/call": "name", "prompts/get": "name", "resources/read": "uri", "tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId" };

/** Return the headers of a request; `tool`: the entry of a tool that is called, whose schema may name further ones. */
export function repeatedHeaders(method, params, version, tool) {
  const headers = { "MCP-Protocol-Version": version, "Mcp-Method": method };
  if (NAMED[method] && typeof params[NAMED[method]] === "string") headers["Mcp-Name"] = headerValue(params[NAMED[method]]);
  if (tool) {
    for (const [name, path] of argumentHeaders(tool.inputSchema ?? {})) {
      const value = path.reduce((found, step) => (found !== null && typeof found === "object" ? found[step] : undefined), params.parsedArguments);
      if (["string", "number", "boolean"].includes(typeof value)) headers[`Mcp-Param-${name}`] = headerValue(String(value));
    }
  }
  return headers;
}

/** Yield [header, path] of each argument that a header repeats (`x-mcp-header`). */
function* argumentHeaders(schema, path = []) {
  if (path.length > 8 || schema === null || typeof schema !== "object") return;
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (property && typeof property["x-mcp-header"] === "string") yield [property["x-mcp-header"], [...path, name]];
    yield* argumentHeaders(property, [...path, name]);
  }
}

/** Return a text as the value of a header: as it is, or as a Base64 word if a header cannot have it. */
export function headerValue(text) {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?base64?");
  if (isPlain) return text;
  const bytes = new TextEncoder().encode(text);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return `=?base64?${btoa(binary)}?=`;
}
