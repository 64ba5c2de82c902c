// The TypeScript SDK, version 2, with one tool, `echo`.
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const server = new McpServer({ name: 'typescript-v2', version: '1' });
const definition = { description: 'Return the text.', inputSchema: z.object({ text: z.string() }) };
server.registerTool('echo', definition, ({ text }) => ({ content: [{ type: 'text', text }] }));
await server.connect(new StdioServerTransport());
