// The process that runs the tools: what is asked comes as lines of JSON on descriptor 3, answers go to descriptor 4.
// One event loop has all calls side by side, and modules keep their state, as they do where ToolBox itself runs them.
//
//   in   {"call": 7, "kind": "tool", "name": …, "request": {…}, "caller": "ai"}   {"cancel": 7}   {"alive": true}
//        {"answer": 7, "reply": 1, "result": {…}}
//   out  {"ready": true}   {"begun": 7}   {"call": 7, "value": …}   {"call": 7, "raised": {…}}   {"alive": true}
//        {"call": 7, "note": {"call": "tool", "arguments": {…}, "reply": 1}}

import { AsyncLocalStorage } from "node:async_hooks";
import { readFileSync } from "node:fs";
import { Socket } from "node:net";
import { surround } from "./surroundings.mjs";

const ASKED = 3;
const ANSWERS = 4;
const MOST_LINKS = 64;
const LONGEST = 64 * 1024 * 1024;
const LAST_MILLISECONDS = 1200;
const INTERNAL_ERROR = -32603;
const SPOILT = 70;
const NO_RELOAD = "this server is one built file: `mcpc dev` builds it again and loads it while a client is connected";

// What tools do to what all of them share is not to be felt here.
const { parse, stringify } = JSON;
const { Map, Promise, AbortController, console, process, setTimeout, setImmediate } = globalThis;

const known = parse(readFileSync(new URL("./tools.json", import.meta.url), "utf8"));
const output = new Socket({ fd: ANSWERS, readable: false, writable: true });
const running = new AsyncLocalStorage();
const calls = new Map();
const loaded = new Map();
let generation = "";
let ending;

function say(message) {
  output.write(`${stringify(message)}\n`);
}

const textOf = (problem) => String(problem?.message ?? problem);

function load(name) {
  if (!loaded.has(name)) {
    const module = import(`./${known.tools[name]}${generation}`);
    module.catch((problem) => console.error(`the tool ${name} cannot be loaded: ${problem?.stack ?? problem}`));
    loaded.set(name, module);
  }
  return loaded.get(name);
}

async function destroyAll() {
  for (const [name, module] of loaded) {
    try {
      await (await module).destroy?.();
    } catch (problem) {
      console.error(`the tool ${name} could not be destroyed: ${textOf(problem)}`);
    }
  }
}

async function loadTools(again = false) {
  if (again) {
    await destroyAll();
    loaded.clear();
    generation = `?update=${Date.now()}`;
  }
  const handlers = {};
  for (const name of Object.keys(known.tools)) {
    try {
      const { default: handler } = await load(name);
      handlers[name] = async (request) => handler(request);
    } catch {
      continue; // it was told when it was loaded
    }
  }
  return handlers;
}

async function listToolsHandler() {
  const tools = [];
  for (const name of Object.keys(known.tools)) {
    const { schema } = await load(name).catch(() => ({}));
    tools.push({ name, inputSchema: schema });
  }
  return { tools };
}

function refused(message) {
  return { content: [{ type: "text", text: stringify(message, null, 2) }], isError: true };
}

// Every call of a tool passes here: the client's, and those that tools make of each other.
async function callToolHandler(request, caller) {
  const began = Date.now();
  const asked = request?.params?.name;
  const tool = Object.hasOwn(known.aliases, asked) ? known.aliases[asked] : asked;
  const args = request?.params?.arguments;
  const log = globalThis[Symbol.for("mcpc.toolbox")].log;
  try {
    const result = await perform(tool, request);
    await log.later({ ts: new Date().toISOString(), tool, caller, args, stat: "success", cost: Date.now() - began });
    return result;
  } catch (problem) {
    const said = { stat: "error", err: textOf(problem), trace: problem?.stack, cost: Date.now() - began };
    await log.later({ ts: new Date().toISOString(), tool, args, ...said });
    return refused(textOf(problem));
  }
}

function perform(tool, request) {
  const call = running.getStore();
  const depth = (call?.depth ?? 0) + 1;
  if (depth > MOST_LINKS) throw new Error(`tools have called each other ${MOST_LINKS} deep`);
  if (tool === known.reload) return reloadRefused();
  if (!Object.hasOwn(known.tools, tool)) return elsewhere(tool, request, call);
  return running.run({ ...call, depth }, async () => {
    const { default: handler } = await load(tool);
    return handler(request, { signal: call?.signal });
  });
}

function reloadRefused() {
  const details = { message: NO_RELOAD, directory: process.cwd() };
  const text = stringify({ error: "BuildReload_FAILED", details }, null, 2);
  return { content: [{ type: "text", text }], isError: true };
}

// A tool of the same server that is not written in JavaScript: the server runs it, on behalf of the call that asks.
async function elsewhere(tool, request, call) {
  const unknown = `Unknown tool: ${tool}`;
  if (!call || !calls.has(call.number)) throw new Error(unknown);
  const reply = ++call.asked.last;
  const result = await new Promise((resolve) => {
    call.asked.open.set(reply, resolve);
    say({ call: call.number, note: { call: tool, arguments: request.params.arguments ?? {}, reply } });
  });
  if (result.isError === true && result.content?.[0]?.text === unknown) throw new Error(unknown);
  return result;
}

const handlerOf = async (kind, name) => (await import(`./${known.handlers[kind]}`))[name];

const KINDS = {
  tool: ({ request, caller, logged }) =>
    logged ? performUnlogged(request) : callToolHandler(request, caller),
  prompt: async ({ request }) => (await handlerOf("prompts", "getPromptHandler"))(request),
  resource: async ({ request }) => (await handlerOf("resources", "readResourceHandler"))(request),
  resources: async ({ request }) => (await handlerOf("resources", "listResourcesHandler"))(request),
};

// Who called it has written the line of the log already, or will.
async function performUnlogged(request) {
  try {
    return await perform(known.aliases[request.params.name] ?? request.params.name, request);
  } catch (problem) {
    return refused(textOf(problem));
  }
}

// A process in which not even this can be done any more is of no use: the server starts another.
async function take(message) {
  try {
    await taken(message);
  } catch (problem) {
    spoilt(problem);
  }
}

function spoilt(problem) {
  console.error("the process for the tools was spoilt by one of them:", problem);
  process.exit(SPOILT);
}

async function taken(message) {
  const stop = new AbortController();
  const call = { number: message.call, depth: 0, signal: stop.signal, asked: { last: 0, open: new Map() } };
  calls.set(call.number, { stop, asked: call.asked });
  say({ begun: call.number });
  const answer = await running.run(call, () => answered(message));
  calls.delete(call.number);
  if (!stop.signal.aborted) output.write(answer);
  setImmediate(loadRest);
}

async function answered(message) {
  let found;
  try {
    found = { value: (await KINDS[message.kind](message)) ?? null };
  } catch (problem) {
    found = { raised: { code: INTERNAL_ERROR, message: textOf(problem) } };
  }
  try {
    const line = `${stringify({ call: message.call, ...found })}\n`;
    if (line.length <= LONGEST) return line;
    found = { error: `the result takes ${line.length >> 20} MiB, and ${LONGEST >> 20} MiB is the most` };
  } catch (problem) {
    found = { error: `the result cannot be written as JSON: ${textOf(problem)}` };
  }
  return `${stringify({ call: message.call, ...found })}\n`;
}

// The first call waits for its own tool only; the others are loaded when nothing runs, for what they do at that time.
let loading = false;
async function loadRest() {
  const next = Object.keys(known.tools).find((name) => !loaded.has(name));
  if (loading || ending || calls.size > 0 || next === undefined) return;
  loading = true;
  await load(next).catch(() => {});
  loading = false;
  setTimeout(loadRest, 1);
}

function hear(message) {
  if (message.alive) say({ alive: true });
  else if (message.cancel !== undefined) calls.get(message.cancel)?.stop.abort();
  else if (message.answer !== undefined) {
    const open = calls.get(message.answer)?.asked.open;
    open?.get(message.reply)?.(message.result);
    open?.delete(message.reply);
  } else take(message);
}

function listen() {
  const input = new Socket({ fd: ASKED, readable: true, writable: false });
  let pieces = [];
  input.setEncoding("utf8");
  input.on("data", (chunk) => {
    try {
      heard(chunk);
    } catch (problem) {
      spoilt(problem);
    }
  });
  function heard(chunk) {
    const lines = chunk.split("\n");
    while (lines.length > 1) {
      const line = pieces.join("") + lines.shift();
      pieces = [];
      hear(parse(line));
    }
    pieces.push(lines[0]);
  }
  input.on("end", end);
  input.on("error", end);
}

function end() {
  ending ??= finish();
  return ending;
}

async function finish() {
  setTimeout(() => process.exit(0), LAST_MILLISECONDS).unref();
  await destroyAll();
  process.exit(0);
}

process.on("uncaughtException", (problem) => console.error("outside of any call:", problem));
process.on("unhandledRejection", (problem) => console.error("a promise that nobody waited for:", problem));
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, end);
output.on("error", () => process.exit(0));
try {
  process.loadEnvFile?.();
} catch {
  // there is none where the server was started, which is normal
}
const around = surround(import.meta.url, process.env.MCPC_TOOLBOX_HOME, process.env.MCPC_TOOLBOX_LOG, {
  callToolHandler,
  listToolsHandler,
  loadTools,
});
around.log.now({ ts: new Date().toISOString(), tool: "system", args: {}, stat: "info", err: "Server started successfully" });
listen();
say({ ready: true });
