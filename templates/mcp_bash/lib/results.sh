# shellcheck shell=bash disable=SC2154 # The variables are of tool-sdk.sh and its parts.
# What a tool answers.
#
# Its law: what is printed is JSON whatever was given; a result with an error in it is a result, and its status 0, but
# mcp_fail ends the tool with an error of the protocol.

mcp_fail() {
  local code=$1 message=${2:-Tool failed} data=null __mcpc_out __mcpc_count
  if [[ $code =~ ^[-+]?0*([0-9]+)$ ]]; then
    if [[ $code == -* ]]; then code=-${BASH_REMATCH[1]}; else code=${BASH_REMATCH[1]}; fi
  else
    code=-32603
  fi
  if [[ ${3-} ]] && __mcpc_compact "$3" && ((__mcpc_count == 1)); then data=$__mcpc_out; fi
  __mcpc_string "$message"
  if [[ ${MCP_TOOL_ERROR_FILE-} ]]; then
    printf '{"code":%s,"message":%s,"data":%s}\n' "$code" "$__mcpc_out" "$data" 2>/dev/null >"$MCP_TOOL_ERROR_FILE" || :
  fi
  printf '{"code":%s,"message":%s,"data":%s}\n' "$code" "$__mcpc_out" "$data"
  __mcpc_complain "$message"
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
  local LC_ALL=C most=102400 __mcpc_out __mcpc_count envelope text
  if __mcpc_whole "${MCPBASH_MAX_TEXT_BYTES-}"; then most=$__mcpc_out; fi
  if __mcpc_whole "${2-}"; then most=$__mcpc_out; fi
  if [[ -z ${1-} ]]; then
    __mcpc_failure internal_error 'mcp_result_success was given nothing'
  elif ((${#1} > __mcpc_most)) && __mcpc_python && __mcpc_in_python json_answer success "$most" <<<"$1"; then
    return 0
  elif ! __mcpc_compact "$1"; then
    __mcpc_failure internal_error 'mcp_result_success was given what is not JSON'
  elif ((__mcpc_count != 1)); then
    text='{"success":false,"error":{"type":"internal_error","message":"mcp_result_success wants one JSON value","count":'
    __mcpc_result 'Error: the result is not one JSON value' "$text$__mcpc_count}}" true
  else
    envelope="{\"success\":true,\"result\":$__mcpc_out}" text=
    if ((${#envelope} > most)); then __mcpc_summary; else text=$envelope; fi
    __mcpc_result "$text" "$envelope" false
  fi
}

# __mcpc_summary: says in $text what the one value is that was read, and is in __mcpc_out.
__mcpc_summary() {
  local -a __mcpc_found
  __mcpc_read "$__mcpc_out" || :
  case $__mcpc_out in
    [\[\{]*)
      __mcpc_children "${__mcpc_starts[0]}"
      text="Success: array with ${#__mcpc_found[@]} items"
      if [[ $__mcpc_out == \{* ]]; then text="Success: object with ${#__mcpc_found[@]} keys"; fi
      ;;
    *)
      if [[ $__mcpc_out == \"* ]]; then __mcpc_plain; fi
      if [[ $__mcpc_out =~ ^([$'\x01'-$'\x7f']|[$'\xc0'-$'\xff'][$'\x80'-$'\xbf']*){0,100} ]]; then
        text="Success: ${BASH_REMATCH[0]}"
      fi
      ;;
  esac
}

# __mcpc_failure TYPE MESSAGE: prints the result for an error of two texts.
__mcpc_failure() {
  local __mcpc_out error
  __mcpc_string "$1"
  error="{\"success\":false,\"error\":{\"type\":$__mcpc_out"
  __mcpc_string "$2"
  __mcpc_result "$2" "$error,\"message\":$__mcpc_out}}" true
}

mcp_result_error() {
  local error=${1-} __mcpc_out raw status=0
  if [[ -z $error ]]; then error='{"type":"internal_error","message":"Unknown error (there is no error object)"}'; fi
  __mcpc_read "$error" || status=$?
  if ((status == 1)); then
    raw=$error error='{"type":"internal_error","message":"mcp_result_error was given what is not JSON","raw":'
  elif ((${#__mcpc_starts[@]} != 1)); then
    raw="${#__mcpc_starts[@]} values" error='{"type":"internal_error","message":"An error is one JSON value","raw":'
  elif [[ ${__mcpc_tokens[0]} != \{ ]]; then
    __mcpc_value 0
    if [[ $__mcpc_out == \"* ]]; then __mcpc_plain; fi
    raw=$__mcpc_out error='{"type":"internal_error","message":"An error is a JSON object","raw":'
  else
    __mcpc_complete_error
    return 0
  fi
  __mcpc_string "$raw"
  __mcpc_read "$error$__mcpc_out}" || :
  __mcpc_complete_error
}

# __mcpc_complete_error: prints the result for the error object that was read, with a type and a message if it has none.
__mcpc_complete_error() {
  local __mcpc_out __mcpc_at name preset error
  for name in type message; do
    if [[ $name == type ]]; then preset='"internal_error"'; else preset='"Unknown error"'; fi
    __mcpc_member 0 "\"$name\""
    if [[ -z $__mcpc_at ]]; then
      __mcpc_value 0
      error=${__mcpc_out%\}}
      if [[ $error != '{' ]]; then error+=,; fi
      __mcpc_read "$error\"$name\":$preset}" || :
    elif [[ ${__mcpc_tokens[__mcpc_at]} == @(null|false) ]]; then
      __mcpc_tokens[__mcpc_at]=$preset __mcpc_read_text=
      __mcpc_value 0
      __mcpc_read "$__mcpc_out" || :
    fi
  done
  __mcpc_value 0
  error=$__mcpc_out
  __mcpc_member 0 '"message"'
  __mcpc_value "$__mcpc_at"
  if [[ $__mcpc_out == \"* ]]; then __mcpc_plain; fi
  __mcpc_result "$__mcpc_out" "{\"success\":false,\"error\":$error}" true
}

mcp_error() {
  local type=${1:-internal_error} message=${2:-Unknown error} hint='' data='' error __mcpc_out __mcpc_count
  shift 2 || shift $#
  while (($#)); do
    case $1 in
      --hint) hint=${2-} ;;
      --data) data=${2-} ;;
      *) set -- '' "$@" ;;
    esac
    shift 2 || shift $#
  done
  __mcpc_string "$type"
  error="{\"type\":$__mcpc_out"
  __mcpc_string "$message"
  error+=",\"message\":$__mcpc_out"
  if [[ $hint ]]; then
    __mcpc_string "$hint"
    error+=",\"hint\":$__mcpc_out"
  fi
  if [[ $data ]]; then
    if ! __mcpc_compact "$data" || ((__mcpc_count != 1)); then
      __mcpc_string "$data"
      __mcpc_out="{\"_invalid_json\":$__mcpc_out}"
    fi
    if [[ $__mcpc_out != null ]]; then error+=",\"data\":$__mcpc_out"; fi
  fi
  mcp_log_debug mcp_error "type=$type: $message"
  if [[ $hint ]]; then mcp_log_warn mcp_error "type=$type hint: $message"; fi
  __mcpc_result "$message" "{\"success\":false,\"error\":$error}}" true
}
