#!/usr/bin/env python3
# mcp: {"name": "note", "description": "Takes a note", "arguments": {"type": "object", "properties": {"text": {}}}}
import json
import os

print(json.dumps({"noted": json.loads(os.environ["MCP_TOOL_ARGS_JSON"])}))
