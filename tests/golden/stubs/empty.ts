// Written by `mcpc stubs`: do not edit.
/**
 * A typed client for the tools of ! """
 * *\/ import os; os.abort() //\.
 */

/** What calls a tool: a client of `@modelcontextprotocol/client` or `@modelcontextprotocol/sdk`. */
export interface ToolCaller {
  callTool(params: { name: string; arguments?: Record<string, unknown> }): Promise<unknown>;
}

/** A tool failed; the message is its text, and `result` its whole result. */
export class ToolCallError extends Error {
  readonly result: unknown;

  constructor(message: string, result: unknown) {
    super(message);
    this.name = "ToolCallError";
    this.result = result;
  }
}

interface RawResult {
  content?: ReadonlyArray<{ type: string; text?: string }>;
  structuredContent?: unknown;
  isError?: boolean;
}

async function resultOf(client: ToolCaller, name: string, args: object): Promise<RawResult> {
  const result = (await client.callTool({ name, arguments: { ...args } })) as RawResult;
  if (result.isError) throw new ToolCallError(contentOf(result), result);
  return result;
}

async function textOf(client: ToolCaller, name: string, args: object): Promise<string> {
  return contentOf(await resultOf(client, name, args));
}

async function structuredOf(client: ToolCaller, name: string, args: object): Promise<unknown> {
  const result = await resultOf(client, name, args);
  if (result.structuredContent === undefined) throw new ToolCallError(`${name}: the result has no structured content`, result);
  return result.structuredContent;
}

function contentOf(result: RawResult): string {
  return (result.content ?? []).flatMap((block) => (block.type === "text" ? [block.text ?? ""] : [])).join("\n");
}

/** The tools of !; every method throws a ToolCallError where the tool fails. */
export class ServerClient {
  readonly #client: ToolCaller;

  constructor(client: ToolCaller) {
    this.#client = client;
  }
}
