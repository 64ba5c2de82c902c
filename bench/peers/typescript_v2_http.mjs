// The TypeScript SDK, version 2, with one tool, `echo`, over HTTP at the port that is named.
import { createServer } from 'node:http';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { z } from 'zod';

const definition = { description: 'Return the text.', inputSchema: z.object({ text: z.string() }) };
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'typescript-v2', version: '1' });
  server.registerTool('echo', definition, ({ text }) => ({ content: [{ type: 'text', text }] }));
  return server;
});

createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const url = `http://${request.headers.host}${request.url}`;
  const body = parts.length ? Buffer.concat(parts) : undefined;
  const answer = await handler.fetch(new Request(url, { method: request.method, headers: request.headers, body }));
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(Buffer.from(await answer.arrayBuffer()));
}).listen(Number(process.argv[2]), '127.0.0.1');
