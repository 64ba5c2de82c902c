// Hold the conversation of ../everything.py with a TypeScript SDK's client over HTTP, and print its transcript as JSON.
//
//   node everything.mjs v1|legacy|auto|REVISION URL CONVERSATION
//
// v1: the client of @modelcontextprotocol/sdk; the others: that of @modelcontextprotocol/client, in this mode (a
// revision is pinned).  CONVERSATION: what to say, as JSON.

const [mode, url, text] = process.argv.slice(2);
const say = JSON.parse(text);
const identity = { name: 'everything', version: '1' };
const capabilities = { elicitation: {}, sampling: {} };
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const answer = ({ params }) => ({ action: 'accept', content: params.message === say.question.message ? say.form : { name: say.name } });
const sample = () => ({ role: 'assistant', content: { type: 'text', text: say.sample }, model: 'none', stopReason: 'endTurn' });
const updates = [];
const hear = ({ params }) => { updates.push(params.uri); };

const connectors = {
  async v1() {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const types = await import('@modelcontextprotocol/sdk/types.js');
    const client = new Client(identity, { capabilities });
    client.setRequestHandler(types.ElicitRequestSchema, async (request) => answer(request));
    client.setRequestHandler(types.CreateMessageRequestSchema, async () => sample());
    client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, hear);
    return { client, transport: new StreamableHTTPClientTransport(new URL(url)) };
  },
  async v2() {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const negotiation = ['legacy', 'auto'].includes(mode) ? mode : { pin: mode };
    const client = new Client(identity, { capabilities, versionNegotiation: { mode: negotiation } });
    client.setRequestHandler('elicitation/create', async (request) => answer(request));
    client.setRequestHandler('sampling/createMessage', async () => sample());
    client.setNotificationHandler('notifications/resources/updated', hear);
    return { client, transport: new StreamableHTTPClientTransport(new URL(url)) };
  },
};

const { client, transport } = await connectors[mode === 'v1' ? 'v1' : 'v2']();
await client.connect(transport);
const stateless = !['v1', 'legacy'].includes(mode);

const refusal = async (answered) => {
  try {
    await answered();
  } catch (problem) {
    return problem.code;
  }
  return null;
};
const call = (name, args = {}, options = undefined) =>
  mode === 'v1' ? client.callTool({ name, arguments: args }, undefined, options) : client.callTool({ name, arguments: args }, options);
const textOf = (result) => result.content.map((block) => block.text).join('');
const read = async (uri) => (await client.readResource({ uri })).contents[0].text;

const progress = [];
await call('test_tool_with_progress', {}, { onprogress: (step) => progress.push(step.progress) });
const ref = { type: 'ref/prompt', name: 'test_prompt_with_arguments' };
const completion = await client.complete({ ref, argument: { name: 'arg1', value: 'par' } });
const failed = await call('test_error_handling');

const updated = async () => {
  const subscription = stateless ? await client.listen({ resourceSubscriptions: [say.watched] }) : null;
  if (!stateless) await client.subscribeResource({ uri: say.watched });
  for (let tries = 0; !updates.length && tries < 200; tries += 1) {
    await call('change_watched_resource', { text: 'changed' });
    await pause(100);
  }
  await (stateless ? subscription.close() : client.unsubscribeResource({ uri: say.watched }));
  return updates[0] ?? null;
};

const cancelled = async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort('enough'), 2000);
  try {
    await call('slow_compute', { seconds: Number(say.seconds), label: 'cancelled' }, { signal: stop.signal });
  } catch {
    return textOf(await call('test_simple_text')).startsWith('This is');
  }
  return false;
};

const transcript = {
  protocol: mode === 'v1' ? transport.protocolVersion : client.getNegotiatedProtocolVersion(),
  tools: (await client.listTools()).tools.map((tool) => tool.name),
  prompts: (await client.listPrompts()).prompts.map((prompt) => prompt.name),
  resources: (await client.listResources()).resources.map((resource) => resource.uri),
  templates: (await client.listResourceTemplates()).resourceTemplates.map((template) => template.uriTemplate),
  text: textOf(await call('test_simple_text')),
  failed: failed.isError ? textOf(failed) : null,
  unknown_tool: await refusal(() => call('no_such_tool')),
  prompt: (await client.getPrompt({ name: ref.name, arguments: { arg1: 'one', arg2: 'two' } })).messages[0].content.text,
  read: await read('test://static-text'),
  templated: await read('test://template/123/data'),
  unknown_resource: await refusal(() => read('test://nothing/here')),
  completed: completion.completion.values.filter((value) => value !== 'paris'),
  progress,
  elicited: textOf(await call('test_elicitation', say.question)),
  greeted: textOf(await call('test_input_required_result_elicitation')),
  sampled: textOf(await call('test_sampling', { prompt: 'Say something.' })),
  updated: await updated(),
  cancelled: await cancelled(),
};
await client.close();
console.log(JSON.stringify(transcript));
