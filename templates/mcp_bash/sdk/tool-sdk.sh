# shellcheck shell=bash disable=SC1091,SC2034,SC2154 # The variables are of its parts.
# What a tool of an mcp-bash project reads first: its arguments, its answers, and what it says meanwhile.
#
# Rule: reading this starts no process and makes no noise, and what simple tools call starts none either: JSON is read
# and written in Bash (lib/json.sh).  Functions that few tools call are read when one is called.  A second reading only
# does again what a tool may rely on: the shell's options and the variables.  Needs Bash 4.4.

set -euo pipefail

MCP_TOOL_CANCELLATION_FILE=${MCP_CANCEL_FILE:-}
MCP_PROGRESS_STREAM=${MCP_PROGRESS_STREAM:-}
MCP_LOG_STREAM=${MCP_LOG_STREAM:-}
MCP_PROGRESS_TOKEN=${MCP_PROGRESS_TOKEN:-}
MCP_ELICIT_DEFAULT_TIMEOUT=${MCPBASH_ELICITATION_TIMEOUT:-30}

if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
  printf 'tool-sdk.sh: Bash %s is too old, 4.4 or newer is needed\n' "$BASH_VERSION" >&2
  exit 1
fi
__mcpc_place=${BASH_SOURCE[0]}
case $__mcpc_place in
  /*) ;;
  *) __mcpc_place=$PWD/$__mcpc_place ;;
esac
if [[ ${__mcpc_sdk-} == "${__mcpc_place%/*}" ]]; then return 0; fi
__mcpc_sdk=${__mcpc_place%/*}
__mcpc_lib=$__mcpc_sdk/../lib
source "$__mcpc_lib/json.sh"
source "$__mcpc_lib/arguments.sh"
source "$__mcpc_lib/notes.sh"
source "$__mcpc_lib/results.sh"

# __mcpc_load FILE: reads functions that were put off.
__mcpc_load() {
  # shellcheck disable=SC1090
  source "$__mcpc_lib/$1.sh"
}

__mcpc_filter() { __mcpc_load filter && __mcpc_filter "$@"; }
__mcpc_python() { __mcpc_load tools && __mcpc_python "$@"; }
__mcpc_jq() { __mcpc_load tools && __mcpc_jq "$@"; }
__mcpc_tool() { __mcpc_load tools && __mcpc_tool "$@"; }
mcp_path_collapse() { __mcpc_load path && mcp_path_collapse "$@"; }
mcp_path_normalize() { __mcpc_load path && mcp_path_normalize "$@"; }
mcp_roots_contains() { __mcpc_load roots && mcp_roots_contains "$@"; }
mcp_require_path() { __mcpc_load roots && mcp_require_path "$@"; }
mcp_with_retry() { __mcpc_load retry && mcp_with_retry "$@"; }
mcp_run_with_progress() { __mcpc_load progress-passthrough && mcp_run_with_progress "$@"; }
mcp_elicit() { __mcpc_load elicit && mcp_elicit "$@"; }
mcp_elicit_url() { __mcpc_load elicit && mcp_elicit_url "$@"; }
mcp_elicit_string() { __mcpc_load elicit && mcp_elicit_string "$@"; }
mcp_elicit_confirm() { __mcpc_load elicit && mcp_elicit_confirm "$@"; }
mcp_elicit_choice() { __mcpc_load elicit && mcp_elicit_choice "$@"; }
mcp_elicit_titled_choice() { __mcpc_load elicit && mcp_elicit_titled_choice "$@"; }
mcp_elicit_multi_choice() { __mcpc_load elicit && mcp_elicit_multi_choice "$@"; }
mcp_elicit_titled_multi_choice() { __mcpc_load elicit && mcp_elicit_titled_multi_choice "$@"; }
mcp_extract_cli_error() { __mcpc_load outputs && mcp_extract_cli_error "$@"; }
mcp_json_truncate() { __mcpc_load outputs && mcp_json_truncate "$@"; }
mcp_result_text_with_resource() { __mcpc_load outputs && mcp_result_text_with_resource "$@"; }
mcp_config_load() { __mcpc_load config && mcp_config_load "$@"; }
mcp_config_get() { __mcpc_load config && mcp_config_get "$@"; }
mcp_download_safe() { __mcpc_load download && mcp_download_safe "$@"; }
mcp_download_safe_or_fail() { __mcpc_load download && mcp_download_safe_or_fail "$@"; }
__mcpc_load_ui() {
  source "$__mcpc_sdk/ui-sdk.sh"
}
mcp_client_supports_ui() { __mcpc_load_ui && mcp_client_supports_ui "$@"; }
mcp_result_with_ui() { __mcpc_load_ui && mcp_result_with_ui "$@"; }
mcp_result_with_ui_data() { __mcpc_load_ui && mcp_result_with_ui_data "$@"; }
mcp_ui_form() { __mcpc_load_ui && mcp_ui_form "$@"; }
mcp_ui_table() { __mcpc_load_ui && mcp_ui_table "$@"; }
mcp_tool_meta_with_ui() { __mcpc_load_ui && mcp_tool_meta_with_ui "$@"; }

__mcpc_complain() { printf '%s\n' "$1" >&2; }

mcp_json_escape() {
  local __mcpc_out
  __mcpc_string "${1-}"
  printf '%s\n' "$__mcpc_out"
}
__mcpc_to_json_escape() { __mcpc_is_quiet && __mcpc_string "${1-}"; }

mcp_json_obj() {
  local __mcpc_out
  if ! __mcpc_object "$@"; then
    __mcpc_complain "mcp_json_obj: a name has no value, for there are $# arguments"
    exit 1
  fi
  printf '%s' "$__mcpc_out"
}
__mcpc_to_json_obj() { __mcpc_is_quiet && __mcpc_object "$@"; }
__mcpc_object() {
  if (($# % 2)); then return 1; fi
  local __mcpc_object=
  while (($#)); do
    __mcpc_string "$1"
    __mcpc_object+=,$__mcpc_out
    __mcpc_string "$2"
    __mcpc_object+=:$__mcpc_out
    shift 2
  done
  __mcpc_out="{${__mcpc_object:1}}"
  # No number, no escape and nothing in it: there is no need to look at it again.
  if [[ ${#__mcpc_out} -lt 256 && $__mcpc_out != *\\* ]]; then __mcpc_flat_text=$__mcpc_out; fi
}

mcp_json_arr() {
  local __mcpc_out
  __mcpc_array "$@"
  printf '%s' "$__mcpc_out"
}
__mcpc_to_json_arr() { __mcpc_is_quiet && __mcpc_array "$@"; }
__mcpc_array() {
  local __mcpc_array='' __mcpc_item
  for __mcpc_item; do
    __mcpc_string "$__mcpc_item"
    __mcpc_array+=,$__mcpc_out
  done
  __mcpc_out="[${__mcpc_array:1}]"
}

# __mcpc_compact TEXT: sets __mcpc_out to the values of TEXT without blanks, each in a line, and __mcpc_count to how many
# there are; 1 if it is not JSON.
__mcpc_compact() {
  if __mcpc_is_flat "$1"; then
    __mcpc_out=$1 __mcpc_count=1
    return 0
  fi
  local - __mcpc_start __mcpc_text=''
  set +eux
  if ((${#1} > __mcpc_most)) && __mcpc_python; then
    __mcpc_out=$(__mcpc_in_python json_answer compact <<<"$1") || return 1
    __mcpc_count=${__mcpc_out%%$'\n'*}
    __mcpc_out=${__mcpc_out#"$__mcpc_count"}
    __mcpc_out=${__mcpc_out#$'\n'}
    return 0
  fi
  __mcpc_read "$1" || (($? == 2)) || return 1
  __mcpc_count=${#__mcpc_starts[@]}
  for __mcpc_start in "${__mcpc_starts[@]}"; do
    __mcpc_value "$__mcpc_start"
    __mcpc_text+=$'\n'$__mcpc_out
  done
  __mcpc_out=${__mcpc_text:1}
}
