// The TypeScript SDK, version 1, with one tool, `echo`, over HTTP at the port that is named: a server a request.
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const definition = { description: 'Return the text.', inputSchema: { text: z.string() } };

createServer(async (request, response) => {
  const server = new McpServer({ name: 'typescript-v1', version: '1' });
  server.registerTool('echo', definition, ({ text }) => ({ content: [{ type: 'text', text }] }));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  response.on('close', () => { transport.close(); server.close(); });
  await server.connect(transport);
  await transport.handleRequest(request, response);
}).listen(Number(process.argv[2]), '127.0.0.1');
