// Hold the conversation of ../conversation.py with a TypeScript SDK's client, and print its transcript as JSON.
//
//   node transcript.mjs v1|legacy|auto|REVISION COMMAND CONVERSATION
//
// v1: the client of @modelcontextprotocol/sdk; the others: that of @modelcontextprotocol/client, in this mode (a
// revision is pinned).  COMMAND: the words that start the server, as JSON.  CONVERSATION: the calls to make, as JSON.

const [mode, words, text] = process.argv.slice(2);
const [command, ...args] = JSON.parse(words);
const conversation = JSON.parse(text);
const identity = { name: 'transcript', version: '1' };

const connectors = {
  async v1() {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    return { client: new Client(identity), transport: StdioClientTransport };
  },
  async v2() {
    const { Client } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    const negotiation = ['legacy', 'auto'].includes(mode) ? mode : { pin: mode };
    return { client: new Client(identity, { versionNegotiation: { mode: negotiation } }), transport: StdioClientTransport };
  },
};

const { client, transport: Transport } = await connectors[mode === 'v1' ? 'v1' : 'v2']();
let protocol; // version 1 tells its transport alone
const transport = new Transport({ command, args, env: process.env });
if (mode === 'v1') transport.setProtocolVersion = (version) => { protocol = version; };

const refusal = async (answer) => {
  try {
    await answer();
  } catch (problem) {
    return problem.code;
  }
  return null;
};

await client.connect(transport);
const { name, version } = client.getServerVersion();
const transcript = {
  server: { name, version },
  protocol: protocol ?? client.getNegotiatedProtocolVersion(),
  instructions: client.getInstructions(),
  tools: (await client.listTools()).tools.map((tool) => tool.name),
  prompts: (await client.listPrompts()).prompts.map((prompt) => prompt.name),
};
for (const [key, [tool, args]] of Object.entries(conversation.calls)) {
  const result = await client.callTool({ name: tool, arguments: args });
  const content = result.content.map((block) => block.text).join('');
  transcript[key] = { structured: result.structuredContent ?? null, is_error: result.isError ?? false, text: content };
}
for (const [key, [prompt, args]] of Object.entries(conversation.prompts)) {
  transcript[key] = (await client.getPrompt({ name: prompt, arguments: args })).messages[0].content.text;
}
transcript.unknown_tool = await refusal(() => client.callTool({ name: conversation.unknown_tool, arguments: {} }));
transcript.incomplete_prompt = await refusal(() => client.getPrompt({ name: conversation.incomplete_prompt, arguments: {} }));
await client.close();
console.log(JSON.stringify(transcript));
