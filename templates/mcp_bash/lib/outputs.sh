# shellcheck shell=bash disable=SC2154 # The variables are of tool-sdk.sh and its parts.
# What commands print and what files hold, for a tool's answer.
#
# Rule: the status is 0, and errors are in the answer.

# mcp_extract_cli_error OUTPUT ERRORS STATUS: prints what a command had to say of its failure.
mcp_extract_cli_error() {
  local __mcpc_out __mcpc_count __mcpc_at __mcpc_name __mcpc_is_said=''
  if __mcpc_compact "${1-}" && ((__mcpc_count == 1)) && [[ $__mcpc_out == \{* ]]; then
    __mcpc_read "$__mcpc_out" || :
    for __mcpc_name in error.message error failed errors; do
      __mcpc_said "$__mcpc_name" && __mcpc_is_said=1 && break
    done
  fi
  if [[ $__mcpc_is_said ]]; then
    printf '%s' "$__mcpc_out"
  elif [[ ${2-} ]]; then
    printf '%s' "$2"
  else
    printf 'CLI exited with code %s' "${3-}"
  fi
}

# __mcpc_said PLACE: sets __mcpc_out to the message at one of the places where commands put it; 1 if there is none.
__mcpc_said() {
  local -a __mcpc_found
  __mcpc_at=
  case $1 in
    error.message) __mcpc_path .error.message || return 1 ;;
    error)
      __mcpc_path .error
      [[ $__mcpc_at && ${__mcpc_tokens[__mcpc_at]} == \"* ]] || return 1
      ;;
    failed)
      __mcpc_is .success false || __mcpc_is .ok false || __mcpc_is .status '"error"' || return 1
      __mcpc_path .message
      ;;
    errors)
      __mcpc_path .errors
      [[ $__mcpc_at && ${__mcpc_tokens[__mcpc_at]} == \[ ]] || return 1
      __mcpc_children "$__mcpc_at"
      [[ ${__mcpc_found[0]-} && ${__mcpc_tokens[__mcpc_found[0]]} == \{ ]] || return 1
      __mcpc_member "${__mcpc_found[0]}" '"message"'
      ;;
  esac
  [[ $__mcpc_at && ${__mcpc_tokens[__mcpc_at]} != null ]] || return 1
  __mcpc_value "$__mcpc_at"
  if [[ $__mcpc_out == \"* ]]; then __mcpc_plain; fi
  [[ $__mcpc_out ]]
}

# __mcpc_is PATH TOKEN
__mcpc_is() {
  __mcpc_path "$1"
  [[ $__mcpc_at && ${__mcpc_tokens[__mcpc_at]} == "$2" ]]
}

# mcp_json_truncate JSON [MOST_BYTES] [--array-path PATH]
mcp_json_truncate() {
  local __mcpc_out __mcpc_limit=10485760 __mcpc_path=''
  local -a __mcpc_given=()
  while (($#)); do
    if [[ $1 == --array-path ]]; then
      if [[ -z ${2-} || $2 == --* ]]; then
        printf '{"result":null,"truncated":false,"error":{"type":"invalid_path_syntax","message":"--array-path names no path"}}\n'
        return 0
      fi
      __mcpc_path=$2
      shift
    else
      __mcpc_given+=("$1")
    fi
    shift
  done
  if __mcpc_whole "${MCPBASH_MAX_TOOL_OUTPUT_SIZE-}"; then __mcpc_limit=$__mcpc_out; fi
  if __mcpc_whole "${__mcpc_given[1]-}"; then __mcpc_limit=$__mcpc_out; fi
  if __mcpc_python; then
    __mcpc_in_python json_answer truncate "$__mcpc_limit" "$__mcpc_path" <<<"${__mcpc_given[0]-}"
  else
    printf '{"result":null,"truncated":false,"error":{"type":"unavailable","message":"%s"}}\n' 'this needs a Python'
  fi
}

# mcp_result_text_with_resource JSON [--path FILE [--mime TYPE] [--uri URI]]…
mcp_result_text_with_resource() {
  local __mcpc_data=${1-} __mcpc_index=-1 __mcpc_list='' __mcpc_path __mcpc_mime __mcpc_out
  local -a __mcpc_paths=() __mcpc_mimes=() __mcpc_uris=()
  shift || :
  while (($#)); do
    case $1 in
      --path) __mcpc_paths[++__mcpc_index]=${2-} __mcpc_mimes[__mcpc_index]='' __mcpc_uris[__mcpc_index]='' ;;
      --mime) __mcpc_mimes[__mcpc_index < 0 ? 0 : __mcpc_index]=${2-} ;;
      --uri) __mcpc_uris[__mcpc_index < 0 ? 0 : __mcpc_index]=${2-} ;;
      *)
        mcp_log_debug sdk "mcp_result_text_with_resource: there is no option $1"
        set -- '' "$@"
        ;;
    esac
    shift 2 || shift $#
  done
  if ((__mcpc_index >= 0)) && [[ -z ${MCP_TOOL_RESOURCES_FILE-} ]]; then
    mcp_log_warn sdk 'mcp_result_text_with_resource: the server did not say where resources go'
  elif ((__mcpc_index >= 0)); then
    for ((__mcpc_index = 0; __mcpc_index < ${#__mcpc_paths[@]}; __mcpc_index++)); do
      __mcpc_path=${__mcpc_paths[__mcpc_index]} __mcpc_mime=${__mcpc_mimes[__mcpc_index]}
      if [[ ! -f $__mcpc_path || ! -r $__mcpc_path ]]; then
        mcp_log_warn sdk "mcp_result_text_with_resource: not a file that can be read: $__mcpc_path"
        continue
      fi
      if [[ -z $__mcpc_mime ]]; then
        __mcpc_load resource_content
        __mcpc_mime=$(mcp_resource_detect_mime "$__mcpc_path" application/octet-stream)
      fi
      __mcpc_string "$__mcpc_path"
      __mcpc_list+=",{\"path\":$__mcpc_out"
      __mcpc_string "$__mcpc_mime"
      __mcpc_list+=",\"mimeType\":$__mcpc_out"
      __mcpc_out=null
      if [[ ${__mcpc_uris[__mcpc_index]} ]]; then __mcpc_string "${__mcpc_uris[__mcpc_index]}"; fi
      __mcpc_list+=",\"uri\":$__mcpc_out}"
    done
    printf '[%s]' "${__mcpc_list:1}" >"$MCP_TOOL_RESOURCES_FILE"
  fi
  mcp_result_success "$__mcpc_data"
}
