# shellcheck shell=bash disable=SC2154 # The variables are of tool-sdk.sh and its parts.
# Notifications of a running tool.
#
# Rule: a note is one line with one JSON-RPC notification; without a reader nothing is written and nothing fails.

mcp_is_cancelled() {
  [[ $MCP_TOOL_CANCELLATION_FILE && -f $MCP_TOOL_CANCELLATION_FILE ]]
}

# __mcpc_whole TEXT: sets __mcpc_out to a number without leading zeros; 1 if TEXT is not only digits.
__mcpc_whole() {
  __mcpc_out=$1
  if [[ -z $1 || $1 == *[!0-9]* ]]; then return 1; fi
  __mcpc_out=${__mcpc_out#"${__mcpc_out%%[!0]*}"}
  __mcpc_out=${__mcpc_out:-0}
}

mcp_progress() {
  local __mcpc_percent=0 __mcpc_token __mcpc_message __mcpc_total=null __mcpc_out
  if [[ -z $MCP_PROGRESS_TOKEN || -z $MCP_PROGRESS_STREAM ]]; then return 0; fi
  if __mcpc_whole "${1-}"; then __mcpc_percent=$__mcpc_out; fi
  if ((${#__mcpc_percent} > 2)); then __mcpc_percent=100; fi
  if __mcpc_whole "${3-}"; then __mcpc_total=$__mcpc_out; fi
  __mcpc_string "${2-}"
  __mcpc_message=$__mcpc_out
  __mcpc_token=$MCP_PROGRESS_TOKEN
  if [[ ! $__mcpc_token =~ $__mcpc_number ]]; then
    __mcpc_string "$__mcpc_token"
    __mcpc_token=$__mcpc_out
  fi
  printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%s,"total":%s,"message":%s}}\n' \
    "$__mcpc_token" "$__mcpc_percent" "$__mcpc_total" "$__mcpc_message" 2>/dev/null >>"$MCP_PROGRESS_STREAM" || :
}

mcp_log() {
  local __mcpc_level=${1,,} __mcpc_out
  case $__mcpc_level in
    debug | info | notice | warning | error | critical | alert | emergency) ;;
    *)
      __mcpc_complain "mcp_log: no level is called \"$1\", so this is info"
      __mcpc_level=info
      ;;
  esac
  if [[ -z $MCP_LOG_STREAM ]]; then return 0; fi
  __mcpc_string "$2"
  printf '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"%s","logger":%s,"data":%s}}\n' \
    "$__mcpc_level" "$__mcpc_out" "${3//$'\n'/ }" 2>/dev/null >>"$MCP_LOG_STREAM" || :
}

# __mcpc_log LEVEL LOGGER TEXT
__mcpc_log() {
  local __mcpc_out
  __mcpc_string "$3"
  mcp_log "$1" "$2" "$__mcpc_out"
}

mcp_log_debug() { __mcpc_log debug "$1" "$2"; }
mcp_log_info() { __mcpc_log info "$1" "$2"; }
mcp_log_warn() { __mcpc_log warning "$1" "$2"; }
mcp_log_error() { __mcpc_log error "$1" "$2"; }

mcp_debug() {
  local IFS=' '
  if [[ -z ${MCPBASH_DEBUG_LOG-} ]]; then return 0; fi
  printf '[%(%H:%M:%S)T] %s\n' -1 "$*" 2>/dev/null >>"$MCPBASH_DEBUG_LOG" || :
}
