tool_shout() { printf '%s' "${mcpc_arg_text^^}"; }
