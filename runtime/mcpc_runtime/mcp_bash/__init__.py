"""What tools written for mcp-bash find when they are called: an environment, files of their own, roots, a policy.

Its law: what a script of such a project could rely on is there, by the very names it had; nothing here knows MCP.
"""
