# shellcheck shell=bash disable=SC2154 # The variables are of tool-sdk.sh and its parts.
# What a tool was called with: its arguments, and what else the request says.
#
# Its law: they are asked for as jq would be asked, and what they say stands in no trace of the shell (`set -x`).

# __mcpc_payload JSON FILE: sets __mcpc_out to what one variable or the file that another names has.
__mcpc_payload() {
  local -
  set +x
  __mcpc_out=${!2-}
  if [[ $__mcpc_out && -f $__mcpc_out ]]; then
    IFS= read -r -d '' __mcpc_out <"$__mcpc_out" || :
  else
    __mcpc_out=${!1:-'{}'}
  fi
}

# A member, and what to take where it is null or false: most filters are one.
__mcpc_simple='^\.([A-Za-z_][A-Za-z0-9_]*)( *// *(empty|true|false|null|-?(0|[1-9][0-9]*)|"[^"\\[:cntrl:]]*"))?$'

# __mcpc_get JSON FILE FILTER: sets __mcpc_out to what `jq -rc FILTER` would print of it, without the last line's end.
__mcpc_get() {
  local - text preset
  set +x
  __mcpc_payload "$1" "$2"
  text=$__mcpc_out
  if [[ $3 =~ $__mcpc_simple ]]; then
    set -- "$1" "$2" "$3" "${BASH_REMATCH[1]}"
    preset=${BASH_REMATCH[3]}
    if __mcpc_is_flat "$text"; then
      __mcpc_quick "$text" "$4"
      if [[ $preset && $__mcpc_out == @(null|false) ]]; then __mcpc_out=$preset; fi
      case $__mcpc_out in
        \"*) __mcpc_out=${__mcpc_out:1:${#__mcpc_out} - 2} ;;
        empty) __mcpc_out= ;;
      esac
      return 0
    fi
  fi
  __mcpc_get_slowly "$text" "$3"
}

# __mcpc_get_slowly TEXT FILTER: the same for any.
__mcpc_get_slowly() {
  local __mcpc_at status=0
  local -a __mcpc_results
  __mcpc_out=
  if ((${#1} > __mcpc_most)) && __mcpc_python; then
    __mcpc_tool "$2" "$1" || status=$?
    return "$status"
  fi
  __mcpc_read "$1" || (($? == 2)) || return 2
  if ((${#__mcpc_starts[@]} != 1)); then
    __mcpc_tool "$2" "$1" || status=$?
  elif [[ $2 =~ ^(\.[A-Za-z_][A-Za-z0-9_]*)+$ ]]; then
    __mcpc_path "$2" || return
    if [[ $__mcpc_at ]]; then __mcpc_value "$__mcpc_at"; else __mcpc_out=null; fi
    if [[ $__mcpc_out == \"* ]]; then __mcpc_plain; fi
  else
    __mcpc_filter "$2" || status=$?
    if ((status == 9)); then
      __mcpc_tool "$2" "$1"
      return
    fi
    __mcpc_print_results
  fi
  return "$status"
}

# __mcpc_print_results: sets __mcpc_out to the values at __mcpc_results, each in a line, texts as they are.
__mcpc_print_results() {
  local place text=''
  for place in "${__mcpc_results[@]}"; do
    __mcpc_value "$place"
    if [[ $__mcpc_out == \"* ]]; then __mcpc_plain; fi
    text+=$'\n'$__mcpc_out
  done
  __mcpc_out=${text:1}
}

# __mcpc_argument FILTER: sets __mcpc_out to an argument; nothing if it is null or there is none.
__mcpc_argument() {
  __mcpc_get MCP_TOOL_ARGS_JSON MCP_TOOL_ARGS_FILE "$1" 2>/dev/null || :
  while [[ $__mcpc_out == *$'\n' ]]; do __mcpc_out=${__mcpc_out%$'\n'}; done
  if [[ $__mcpc_out == null ]]; then __mcpc_out=; fi
}

mcp_args_raw() {
  local - __mcpc_out
  set +x
  __mcpc_payload MCP_TOOL_ARGS_JSON MCP_TOOL_ARGS_FILE
  printf '%s' "$__mcpc_out"
}

mcp_meta_raw() {
  local - __mcpc_out
  set +x
  __mcpc_payload MCP_TOOL_META_JSON MCP_TOOL_META_FILE
  printf '%s' "$__mcpc_out"
}

mcp_args_get() {
  local - __mcpc_out status=0
  set +x
  __mcpc_get MCP_TOOL_ARGS_JSON MCP_TOOL_ARGS_FILE "$1" || status=$?
  if ((status)); then
    __mcpc_complain "mcp_args_get: \"$1\" cannot be answered (status $status)"
  else
    while [[ $__mcpc_out == *$'\n' ]]; do __mcpc_out=${__mcpc_out%$'\n'}; done
    printf '%s' "$__mcpc_out"
  fi
  return "$status"
}

mcp_meta_get() {
  local - __mcpc_out status=0
  set +x
  __mcpc_get MCP_TOOL_META_JSON MCP_TOOL_META_FILE "$1" || status=$?
  if [[ $__mcpc_out ]] || ((status == 0)); then printf '%s\n' "$__mcpc_out"; fi
  return "$status"
}

mcp_args_require() {
  local - __mcpc_out
  set +x
  __mcpc_argument "$1"
  if [[ -z $__mcpc_out ]]; then mcp_fail_invalid_args "${2:-$1 is required}"; fi
  printf '%s' "$__mcpc_out"
}

mcp_args_bool() {
  local - name=$1 __mcpc_out preset=''
  set +x
  shift
  while [[ ${1-} == --default ]]; do
    preset=${2:-false}
    shift 2 || break
  done
  __mcpc_argument "$name"
  __mcpc_out=${__mcpc_out:-$preset}
  if [[ -z $__mcpc_out ]]; then mcp_fail_invalid_args "$name is required"; fi
  if [[ $__mcpc_out == true || $__mcpc_out == 1 ]]; then printf true; else printf false; fi
}

mcp_args_int() {
  local - name=$1 __mcpc_out preset='' least='' most='' whole='^-?[0-9]+$'
  set +x
  shift
  while (($#)); do
    case $1 in
      --default) preset=${2-} ;;
      --min) least=${2-} ;;
      --max) most=${2-} ;;
      *) break ;;
    esac
    shift 2 || break
  done
  if [[ $least && $most ]] && ! [ "$least" -le "$most" ] 2>/dev/null; then
    mcp_fail_invalid_args 'mcp_args_int: --min cannot exceed --max'
  fi
  __mcpc_argument "$name"
  __mcpc_out=${__mcpc_out:-$preset}
  if [[ -z $__mcpc_out ]]; then mcp_fail_invalid_args "$name is required"; fi
  if [[ ! $__mcpc_out =~ $whole ]]; then mcp_fail_invalid_args "$name must be an integer"; fi
  if [[ $least ]] && ! [ "$__mcpc_out" -ge "$least" ] 2>/dev/null; then
    mcp_fail_invalid_args "$name must be >= $least"
  fi
  if [[ $most ]] && ! [ "$__mcpc_out" -le "$most" ] 2>/dev/null; then
    mcp_fail_invalid_args "$name must be <= $most"
  fi
  printf '%s' "$__mcpc_out"
}
