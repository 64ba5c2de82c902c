// The TypeScript SDK, version 1, with one tool, `echo`.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'typescript-v1', version: '1' });
const definition = { description: 'Return the text.', inputSchema: { text: z.string() } };
server.registerTool('echo', definition, ({ text }) => ({ content: [{ type: 'text', text }] }));
await server.connect(new StdioServerTransport());
