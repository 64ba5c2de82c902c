// A request as a command for a terminal: mcpc call, curl, or a program that uses the official Python SDK.

import { copyText, h } from "./dom.js";
import { encode, Raw } from "./json.js";
import { repeatedHeaders } from "./client/headers.js";

/** Return a text as one word of a POSIX shell. */
export function quoted(text) {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(text) ? text : `'${text.replace(/'/g, `'\\''`)}'`;
}

const METHODS = { tool: "tools/call", prompt: "prompts/get", resource: "resources/read" };

const paramsOf = (what) => (what.kind === "resource" ? { uri: what.uri } : { name: what.name, arguments: new Raw(what.text || "{}") });

/** Return the command of mcpc that makes a request. */
export function asMcpc(what, page) {
  const { target } = page.facts;
  const [program, ...words] = target === undefined ? ["./server.pyz"] : ["mcpc"];
  const name = what.kind === "resource" ? "read" : what.kind === "tool" ? "call" : "prompt";
  const object = parsed(what.text);
  const given = what.kind === "prompt" ? Object.entries(object).map(([key, value]) => quoted(`${key}=${value}`)) : what.kind === "tool" && what.text && what.text.trim() !== "{}" ? ["--json", quoted(what.text)] : [];
  return [program, ...words, name, ...(target === undefined ? [] : [quoted(target)]), quoted(what.uri ?? what.name), ...given].join(" ");
}

/** Return commands of curl that make a request in the era of the connection. */
export function asCurl(what, page) {
  const { connection } = page;
  const token = connection.token ? [`-H "Authorization: Bearer $TOKEN"`] : [];
  const common = ["-H 'Content-Type: application/json'", "-H 'Accept: application/json, text/event-stream'", ...token];
  const method = METHODS[what.kind];
  const command = (headers, body) => ["curl -sN", quoted(connection.endpoint), ...headers, `-d ${quoted(body)}`].join(" \\\n  ");
  if (connection.isStateless) {
    const params = { ...paramsOf(what), parsedArguments: parsed(what.text) };
    const named = repeatedHeaders(method, params, connection.version, what.entry);
    return command([...common, ...Object.entries(named).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)], connection.message(method, params, 1));
  }
  const start = encode({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: connection.version, capabilities: {}, clientInfo: { name: "curl", version: "1" } } });
  const session = `session=$(${command([...common, "-D - -o /dev/null"], start)} \\\n  | tr -d '\\r' | sed -n 's/^mcp-session-id: //Ip')`;
  const more = [...common, `-H "Mcp-Session-Id: $session"`, `-H 'MCP-Protocol-Version: ${connection.version}'`];
  return [session, command(more, encode({ jsonrpc: "2.0", method: "notifications/initialized" })), command(more, encode({ jsonrpc: "2.0", id: 2, method, params: paramsOf(what) }))].join("\n");
}

const LITERALS = { true: "True", false: "False", null: "None" };

/** Return a JSON text as an expression of Python. */
export function asLiteral(text) {
  return text.replace(/"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g, (each) => LITERALS[each] ?? each.replace(/\\\//g, "/").replace(/\\u(d[89ab][0-9a-f]{2})\\u(d[c-f][0-9a-f]{2})/gi, (pair) => `\\U${JSON.parse(`"${pair}"`).codePointAt(0).toString(16).padStart(8, "0")}`));
}

/** Return a program for the official Python SDK (mcp 2) that makes a request. */
export function asPython(what, page) {
  const { connection } = page;
  const url = JSON.stringify(connection.endpoint);
  const call = { tool: () => `call_tool(${JSON.stringify(what.name)}, ${asLiteral(what.text || "{}")})`, prompt: () => `get_prompt(${JSON.stringify(what.name)}, ${asLiteral(what.text || "{}")})`, resource: () => `read_resource(${JSON.stringify(what.uri)})` }[what.kind]();
  const [imports, server] = connection.token
    ? [TOKEN_IMPORTS, `streamable_http_client(${url}, http_client=create_mcp_http_client(headers={"Authorization": "Bearer " + os.environ["TOKEN"]}))`]
    : [["import asyncio", "", "from mcp import Client"], url];
  const body = ["async def main():", `    async with Client(${server}) as client:`, `        print(await client.${call})`];
  return [...imports, "", "", ...body, "", "", "asyncio.run(main())", ""].join("\n");
}

const TOKEN_IMPORTS = ["import asyncio", "import os", "", "from mcp import Client", "from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client"];

function parsed(text) {
  try {
    return JSON.parse(text || "{}");
  } catch {
    return {};
  }
}

const FORMS = [["mcpc", asMcpc], ["curl", asCurl], ["Python", asPython]];

/** Return the buttons that copy a request as a command. */
export function commandMenu(what, page) {
  const choice = ([name, make]) => h("button", { type: "button", class: "small quiet", "data-form": name, onclick: (event) => copyText(make(what(), page), event.currentTarget) }, name);
  return h("span", { class: "copy-as", role: "group", "aria-label": "Copy as a command" }, h("span", { class: "note", "aria-hidden": "true" }, "Copy as"), FORMS.map(choice));
}
