# What `server.d/register.sh` may call, and how it is read: $1 is the file in which its calls are written down.

exec 9>>"$1"
set --

_mcpc_registered() { # kind payload
  [ -z "$2" ] || printf '%s\037%s\036' "$1" "$2" >&9
}

_mcpc_nothing() { :; }

mcp_register_tool() { _mcpc_registered tools "${1-}"; }
mcp_register_resource() { _mcpc_registered resources "${1-}"; }
mcp_register_prompt() { _mcpc_registered prompts "${1-}"; }
mcp_register_completion() { _mcpc_registered completions "${1-}"; }
mcp_tools_register_manual() { mcp_register_tool "$@"; }
mcp_resources_register_manual() { mcp_register_resource "$@"; }
mcp_prompts_register_manual() { mcp_register_prompt "$@"; }
mcp_completion_register_manual() { mcp_register_completion "$@"; }
mcp_resources_templates_register_manual() { _mcpc_registered resourceTemplates "${1-}"; }

mcp_tools_manual_abort() { _mcpc_registered tools aborted; }
mcp_resources_manual_abort() { _mcpc_registered resources aborted; }
mcp_prompts_manual_abort() { _mcpc_registered prompts aborted; }
mcp_completion_manual_abort() { _mcpc_registered completions aborted; }
mcp_resources_templates_manual_abort() { _mcpc_registered resourceTemplates aborted; }

# A hook begins each kind anew, and what it began is complete when it ends.
mcp_tools_manual_begin() { mcp_tools_manual_abort; }
mcp_resources_manual_begin() { mcp_resources_manual_abort; }
mcp_prompts_manual_begin() { mcp_prompts_manual_abort; }
mcp_completion_manual_begin() { mcp_completion_manual_abort; }
mcp_resources_templates_manual_begin() { mcp_resources_templates_manual_abort; }
mcp_tools_manual_finalize() { _mcpc_nothing; }
mcp_resources_manual_finalize() { _mcpc_nothing; }
mcp_prompts_manual_finalize() { _mcpc_nothing; }
mcp_completion_manual_finalize() { _mcpc_nothing; }
mcp_resources_templates_manual_finalize() { _mcpc_nothing; }

mcp_logging_debug() { _mcpc_nothing; }
mcp_logging_info() { printf '%s\n' "${2-}" >&2; }
mcp_logging_warning() { printf '%s\n' "${2-}" >&2; }
mcp_logging_error() { printf '%s\n' "${2-}" >&2; }

# shellcheck disable=SC1091
. server.d/register.sh
