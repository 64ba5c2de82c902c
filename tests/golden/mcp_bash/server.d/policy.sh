mcp_tools_policy_check() { return 0; }
