# shellcheck shell=bash disable=SC2154 # The variables are of tool-sdk.sh and its parts.
# What a tool answers.
#
# Rule: what is printed is JSON whatever was given; a result with an error in it is a result, and its status 0, but
# mcp_fail ends the tool with an error of the protocol.

mcp_fail() {
  local __mcpc_code=$1 __mcpc_message=${2:-Tool failed} __mcpc_data=null __mcpc_out __mcpc_count
  if [[ $__mcpc_code =~ ^[-+]?0*([0-9]+)$ ]]; then
    if [[ $__mcpc_code == -* ]]; then __mcpc_code=-${BASH_REMATCH[1]}; else __mcpc_code=${BASH_REMATCH[1]}; fi
  else
    __mcpc_code=-32603
  fi
  if [[ ${3-} ]] && __mcpc_compact "$3" && ((__mcpc_count == 1)); then __mcpc_data=$__mcpc_out; fi
  __mcpc_string "$__mcpc_message"
  if [[ ${MCP_TOOL_ERROR_FILE-} ]]; then
    printf '{"code":%s,"message":%s,"data":%s}\n' "$__mcpc_code" "$__mcpc_out" "$__mcpc_data" \
      2>/dev/null >"$MCP_TOOL_ERROR_FILE" || :
  fi
  printf '{"code":%s,"message":%s,"data":%s}\n' "$__mcpc_code" "$__mcpc_out" "$__mcpc_data"
  __mcpc_complain "$__mcpc_message"
  exit 1
}

mcp_fail_invalid_args() { mcp_fail -32602 "${1:-Invalid params}" "${2-}"; }

mcp_emit_text() { printf '%s' "$1"; }

mcp_emit_json() {
  local __mcpc_out __mcpc_count
  if __mcpc_compact "$1" && ((__mcpc_count)); then printf '%s' "$__mcpc_out"; else printf '%s' "$1"; fi
}

mcp_is_valid_json() {
  local __mcpc_out __mcpc_count
  __mcpc_compact "$1" && ((__mcpc_count == 1))
}

mcp_byte_length() {
  local LC_ALL=C
  printf '%s\n' "${#1}"
}

mcp_roots_list() { printf '%s' "${MCP_ROOTS_PATHS-}"; }
mcp_roots_count() { printf '%s' "${MCP_ROOTS_COUNT:-0}"; }

# __mcpc_result TEXT STRUCTURED IS_ERROR: prints a CallToolResult; what is structured comes as JSON.
__mcpc_result() {
  local __mcpc_out
  __mcpc_string "$1"
  printf '{"content":[{"type":"text","text":%s}],"structuredContent":%s,"isError":%s}\n' "$__mcpc_out" "$2" "$3"
}

mcp_result_success() {
  local LC_ALL=C __mcpc_limit=102400 __mcpc_out __mcpc_count __mcpc_envelope __mcpc_text
  if __mcpc_whole "${MCPBASH_MAX_TEXT_BYTES-}"; then __mcpc_limit=$__mcpc_out; fi
  if __mcpc_whole "${2-}"; then __mcpc_limit=$__mcpc_out; fi
  if [[ -z ${1-} ]]; then
    __mcpc_failure internal_error 'mcp_result_success was given nothing'
  elif ((${#1} > __mcpc_most)) && __mcpc_python && __mcpc_in_python json_answer success "$__mcpc_limit" <<<"$1"; then
    return 0
  elif ! __mcpc_compact "$1"; then
    __mcpc_failure internal_error 'mcp_result_success was given what is not JSON'
  elif ((__mcpc_count != 1)); then
    __mcpc_text='{"success":false,"error":{"type":"internal_error",'
    __mcpc_text+='"message":"mcp_result_success wants one JSON value","count":'
    __mcpc_result 'Error: the result is not one JSON value' "$__mcpc_text$__mcpc_count}}" true
  else
    __mcpc_envelope="{\"success\":true,\"result\":$__mcpc_out}" __mcpc_text=
    if ((${#__mcpc_envelope} > __mcpc_limit)); then __mcpc_summary; else __mcpc_text=$__mcpc_envelope; fi
    __mcpc_result "$__mcpc_text" "$__mcpc_envelope" false
  fi
}

# __mcpc_summary: says in $__mcpc_text what the one value is that was read, and is in __mcpc_out.
__mcpc_summary() {
  local -a __mcpc_found
  __mcpc_read "$__mcpc_out" || :
  case $__mcpc_out in
    [\[\{]*)
      __mcpc_children "${__mcpc_starts[0]}"
      __mcpc_text="Success: array with ${#__mcpc_found[@]} items"
      if [[ $__mcpc_out == \{* ]]; then __mcpc_text="Success: object with ${#__mcpc_found[@]} keys"; fi
      ;;
    *)
      if [[ $__mcpc_out == \"* ]]; then __mcpc_plain; fi
      if [[ $__mcpc_out =~ ^([$'\x01'-$'\x7f']|[$'\xc0'-$'\xff'][$'\x80'-$'\xbf']*){0,100} ]]; then
        __mcpc_text="Success: ${BASH_REMATCH[0]}"
      fi
      ;;
  esac
}

# __mcpc_failure TYPE MESSAGE: prints the result for an error of two texts.
__mcpc_failure() {
  local __mcpc_out __mcpc_error
  __mcpc_string "$1"
  __mcpc_error="{\"success\":false,\"error\":{\"type\":$__mcpc_out"
  __mcpc_string "$2"
  __mcpc_result "$2" "$__mcpc_error,\"message\":$__mcpc_out}}" true
}

mcp_result_error() {
  local __mcpc_error=${1-} __mcpc_out __mcpc_raw __mcpc_status=0
  if [[ -z $__mcpc_error ]]; then
    __mcpc_error='{"type":"internal_error","message":"Unknown error (there is no error object)"}'
  fi
  __mcpc_read "$__mcpc_error" || __mcpc_status=$?
  if ((__mcpc_status == 1)); then
    __mcpc_raw=$__mcpc_error
    __mcpc_error='{"type":"internal_error","message":"mcp_result_error was given what is not JSON","raw":'
  elif ((${#__mcpc_starts[@]} != 1)); then
    __mcpc_raw="${#__mcpc_starts[@]} values"
    __mcpc_error='{"type":"internal_error","message":"An error is one JSON value","raw":'
  elif [[ ${__mcpc_tokens[0]} != \{ ]]; then
    __mcpc_value 0
    if [[ $__mcpc_out == \"* ]]; then __mcpc_plain; fi
    __mcpc_raw=$__mcpc_out
    __mcpc_error='{"type":"internal_error","message":"An error is a JSON object","raw":'
  else
    __mcpc_complete_error
    return 0
  fi
  __mcpc_string "$__mcpc_raw"
  __mcpc_read "$__mcpc_error$__mcpc_out}" || :
  __mcpc_complete_error
}

# __mcpc_complete_error: prints the result for the error object that was read, with a type and a message if it has none.
__mcpc_complete_error() {
  local __mcpc_out __mcpc_at __mcpc_name __mcpc_preset __mcpc_error
  for __mcpc_name in type message; do
    if [[ $__mcpc_name == type ]]; then __mcpc_preset='"internal_error"'; else __mcpc_preset='"Unknown error"'; fi
    __mcpc_member 0 "\"$__mcpc_name\""
    if [[ -z $__mcpc_at ]]; then
      __mcpc_value 0
      __mcpc_error=${__mcpc_out%\}}
      if [[ $__mcpc_error != '{' ]]; then __mcpc_error+=,; fi
      __mcpc_read "$__mcpc_error\"$__mcpc_name\":$__mcpc_preset}" || :
    elif [[ ${__mcpc_tokens[__mcpc_at]} == @(null|false) ]]; then
      __mcpc_tokens[__mcpc_at]=$__mcpc_preset __mcpc_read_text=
      __mcpc_value 0
      __mcpc_read "$__mcpc_out" || :
    fi
  done
  __mcpc_value 0
  __mcpc_error=$__mcpc_out
  __mcpc_member 0 '"message"'
  __mcpc_value "$__mcpc_at"
  if [[ $__mcpc_out == \"* ]]; then __mcpc_plain; fi
  __mcpc_result "$__mcpc_out" "{\"success\":false,\"error\":$__mcpc_error}" true
}

mcp_error() {
  local __mcpc_type=${1:-internal_error} __mcpc_message=${2:-Unknown error} __mcpc_hint='' __mcpc_data=''
  local __mcpc_error __mcpc_out __mcpc_count
  shift 2 || shift $#
  while (($#)); do
    case $1 in
      --hint) __mcpc_hint=${2-} ;;
      --data) __mcpc_data=${2-} ;;
      *) set -- '' "$@" ;;
    esac
    shift 2 || shift $#
  done
  __mcpc_string "$__mcpc_type"
  __mcpc_error="{\"type\":$__mcpc_out"
  __mcpc_string "$__mcpc_message"
  __mcpc_error+=",\"message\":$__mcpc_out"
  if [[ $__mcpc_hint ]]; then
    __mcpc_string "$__mcpc_hint"
    __mcpc_error+=",\"hint\":$__mcpc_out"
  fi
  if [[ $__mcpc_data ]]; then
    if ! __mcpc_compact "$__mcpc_data" || ((__mcpc_count != 1)); then
      __mcpc_string "$__mcpc_data"
      __mcpc_out="{\"_invalid_json\":$__mcpc_out}"
    fi
    if [[ $__mcpc_out != null ]]; then __mcpc_error+=",\"data\":$__mcpc_out"; fi
  fi
  mcp_log_debug mcp_error "type=$__mcpc_type: $__mcpc_message"
  if [[ $__mcpc_hint ]]; then mcp_log_warn mcp_error "type=$__mcpc_type hint: $__mcpc_message"; fi
  __mcpc_result "$__mcpc_message" "{\"success\":false,\"error\":$__mcpc_error}}" true
}
