"""mcp-bash: what its scripts find at run time: environment, call folder, roots, policy, and providers of resources.

Everything that a script of such a project relies on is available under the original names.
"""
