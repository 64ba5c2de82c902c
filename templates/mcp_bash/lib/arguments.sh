# shellcheck shell=bash disable=SC2154 # The variables are of tool-sdk.sh and its parts.
# What a tool was called with: its arguments, and what else the request says.
#
# Rule: they are asked for as jq would be asked, and what they say stands in no trace of the shell (`set -x`).

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

# __mcpc_is_simple FILTER: tells whether it is a member, and perhaps what to take where that is null or false, as most
# filters are; sets $__mcpc_member and $__mcpc_preset of the caller.  Without a regular expression, which would take as
# long as all else.
__mcpc_is_simple() {
  local LC_ALL=C __mcpc_rest __mcpc_digits
  if [[ $1 != .[A-Za-z_]* ]]; then return 1; fi
  __mcpc_rest=${1#.}
  __mcpc_member=${__mcpc_rest%%[!A-Za-z0-9_]*} __mcpc_preset=
  __mcpc_rest=${__mcpc_rest#"$__mcpc_member"}
  if [[ -z $__mcpc_rest ]]; then return 0; fi
  __mcpc_rest=${__mcpc_rest#"${__mcpc_rest%%[! ]*}"}
  if [[ $__mcpc_rest != //* ]]; then return 1; fi
  __mcpc_rest=${__mcpc_rest#//}
  __mcpc_preset=${__mcpc_rest#"${__mcpc_rest%%[! ]*}"}
  case $__mcpc_preset in
    empty | true | false | null) ;;
    \"*\")
      __mcpc_rest=${__mcpc_preset:1:${#__mcpc_preset} - 2}
      [[ ${#__mcpc_preset} -gt 1 && $__mcpc_rest != *[\"\\[:cntrl:]]* ]]
      ;;
    *)
      __mcpc_digits=${__mcpc_preset#-}
      [[ $__mcpc_digits && $__mcpc_digits != *[!0-9]* && $__mcpc_digits != 0?* ]]
      ;;
  esac
}

# __mcpc_get JSON FILE FILTER [ALONE]: sets __mcpc_out to what `jq -rc FILTER` would print of it, without the last line's
# end.  With ALONE it starts no process and says nothing: 9 if that would be needed.
__mcpc_get() {
  local - __mcpc_text __mcpc_member __mcpc_preset
  set +x
  __mcpc_payload "$1" "$2"
  __mcpc_text=$__mcpc_out
  if __mcpc_is_simple "$3" && __mcpc_is_flat "$__mcpc_text"; then
    __mcpc_quick "$__mcpc_text" "$__mcpc_member"
    if [[ $__mcpc_preset && $__mcpc_out == @(null|false) ]]; then __mcpc_out=$__mcpc_preset; fi
    case $__mcpc_out in
      \"*) __mcpc_out=${__mcpc_out:1:${#__mcpc_out} - 2} ;;
      empty) __mcpc_out= ;;
    esac
    return 0
  fi
  __mcpc_get_slowly "$__mcpc_text" "$3" "${4-}"
}

# __mcpc_get_slowly TEXT FILTER ALONE: the same for any.
__mcpc_get_slowly() {
  local __mcpc_at __mcpc_status=0
  local -a __mcpc_results
  __mcpc_out=
  if ((${#1} > __mcpc_most)); then
    if [[ $3 ]]; then return 9; fi
    if __mcpc_python; then
      __mcpc_tool "$2" "$1" || __mcpc_status=$?
      return "$__mcpc_status"
    fi
  fi
  __mcpc_read "$1" || (($? == 2)) || return 2
  if ((${#__mcpc_starts[@]} != 1)); then
    __mcpc_status=9
  elif [[ $2 =~ ^(\.[A-Za-z_][A-Za-z0-9_]*)+$ ]]; then
    __mcpc_path "$2" || return
    if [[ $__mcpc_at ]]; then __mcpc_value "$__mcpc_at"; else __mcpc_out=null; fi
    if [[ $__mcpc_out == \"* ]]; then __mcpc_plain; fi
  else
    __mcpc_filter "$2" || __mcpc_status=$?
    if ((__mcpc_status != 9)); then __mcpc_print_results; fi
  fi
  if ((__mcpc_status == 9)) && [[ -z $3 ]]; then
    __mcpc_status=0
    __mcpc_tool "$2" "$1" || __mcpc_status=$?
  fi
  return "$__mcpc_status"
}

# __mcpc_print_results: sets __mcpc_out to the values at __mcpc_results, each in a line, texts as they are.
__mcpc_print_results() {
  local __mcpc_start __mcpc_text=''
  for __mcpc_start in "${__mcpc_results[@]}"; do
    __mcpc_value "$__mcpc_start"
    if [[ $__mcpc_out == \"* ]]; then __mcpc_plain; fi
    __mcpc_text+=$'\n'$__mcpc_out
  done
  __mcpc_out=${__mcpc_text:1}
}

# __mcpc_trim: takes the ends of lines off the end of __mcpc_out, as `$(…)` does.
__mcpc_trim() {
  while [[ $__mcpc_out == *$'\n' ]]; do __mcpc_out=${__mcpc_out%$'\n'}; done
}

# __mcpc_argument FILTER [ALONE]: sets __mcpc_out to an argument; nothing if it is null or there is none.
__mcpc_argument() {
  if [[ ${2-} ]]; then
    __mcpc_get MCP_TOOL_ARGS_JSON MCP_TOOL_ARGS_FILE "$1" alone 2>/dev/null || return
  else
    __mcpc_get MCP_TOOL_ARGS_JSON MCP_TOOL_ARGS_FILE "$1" 2>/dev/null || :
  fi
  __mcpc_trim
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
  local - __mcpc_out __mcpc_status=0
  set +x
  __mcpc_get MCP_TOOL_ARGS_JSON MCP_TOOL_ARGS_FILE "$1" || __mcpc_status=$?
  if ((__mcpc_status)); then
    __mcpc_complain "mcp_args_get: \"$1\" cannot be answered (status $__mcpc_status)"
  else
    __mcpc_trim
    printf '%s' "$__mcpc_out"
  fi
  return "$__mcpc_status"
}

mcp_meta_get() {
  local - __mcpc_out __mcpc_status=0
  set +x
  __mcpc_get MCP_TOOL_META_JSON MCP_TOOL_META_FILE "$1" || __mcpc_status=$?
  if [[ $__mcpc_out ]] || ((__mcpc_status == 0)); then printf '%s\n' "$__mcpc_out"; fi
  return "$__mcpc_status"
}

mcp_args_require() {
  local - __mcpc_out
  set +x
  __mcpc_argument "$1"
  if [[ -z $__mcpc_out ]]; then mcp_fail_invalid_args "${2:-$1 is required}"; fi
  printf '%s' "$__mcpc_out"
}

mcp_args_bool() {
  local - __mcpc_out __mcpc_problem
  set +x
  __mcpc_boolean '' "$@" || mcp_fail_invalid_args "$__mcpc_problem"
  printf '%s' "$__mcpc_out"
}

# __mcpc_boolean ALONE NAME OPTION…: sets __mcpc_out, or says in __mcpc_problem why not.
__mcpc_boolean() {
  local __mcpc_alone=$1 __mcpc_name=$2 __mcpc_preset=''
  shift 2
  while [[ ${1-} == --default ]]; do
    __mcpc_preset=${2:-false}
    shift 2 || break
  done
  __mcpc_argument "$__mcpc_name" "$__mcpc_alone" || return
  __mcpc_out=${__mcpc_out:-$__mcpc_preset} __mcpc_problem="$__mcpc_name is required"
  if [[ -z $__mcpc_out ]]; then return 1; fi
  if [[ $__mcpc_out == true || $__mcpc_out == 1 ]]; then __mcpc_out=true; else __mcpc_out=false; fi
}

mcp_args_int() {
  local - __mcpc_out __mcpc_problem
  set +x
  __mcpc_integer '' "$@" || mcp_fail_invalid_args "$__mcpc_problem"
  printf '%s' "$__mcpc_out"
}

# __mcpc_integer ALONE NAME OPTION…: the same for an integer, within its limits.
__mcpc_integer() {
  local __mcpc_alone=$1 __mcpc_name=$2 __mcpc_preset='' __mcpc_lowest='' __mcpc_highest=''
  shift 2
  while (($#)); do
    case $1 in
      --default) __mcpc_preset=${2-} ;;
      --min) __mcpc_lowest=${2-} ;;
      --max) __mcpc_highest=${2-} ;;
      *) break ;;
    esac
    shift 2 || break
  done
  __mcpc_problem='mcp_args_int: --min cannot exceed --max'
  if [[ $__mcpc_lowest && $__mcpc_highest ]] && ! [ "$__mcpc_lowest" -le "$__mcpc_highest" ] 2>/dev/null; then
    return 1
  fi
  __mcpc_argument "$__mcpc_name" "$__mcpc_alone" || return
  __mcpc_out=${__mcpc_out:-$__mcpc_preset} __mcpc_problem="$__mcpc_name is required"
  if [[ -z $__mcpc_out ]]; then return 1; fi
  __mcpc_problem="$__mcpc_name must be an integer"
  if [[ ${__mcpc_out#-} == *[!0-9]* || $__mcpc_out == - ]]; then return 1; fi
  __mcpc_problem="$__mcpc_name must be >= $__mcpc_lowest"
  if [[ $__mcpc_lowest ]] && ! [ "$__mcpc_out" -ge "$__mcpc_lowest" ] 2>/dev/null; then return 1; fi
  __mcpc_problem="$__mcpc_name must be <= $__mcpc_highest"
  if [[ $__mcpc_highest ]] && ! [ "$__mcpc_out" -le "$__mcpc_highest" ] 2>/dev/null; then return 1; fi
}

# What the compiler puts in the place of `"$(mcp_… …)"`, where that cannot be told from it: each sets __mcpc_out to what
# would stand there, without a process; or it returns another status than 0, and the function itself is asked after all.
__mcpc_to_args_get() {
  (($#)) && __mcpc_is_quiet && __mcpc_get MCP_TOOL_ARGS_JSON MCP_TOOL_ARGS_FILE "$1" alone && __mcpc_trim
}
__mcpc_to_args_require() { (($#)) && __mcpc_is_quiet && __mcpc_argument "$1" alone && [[ $__mcpc_out ]]; }
__mcpc_to_args_bool() {
  local __mcpc_problem
  (($#)) && __mcpc_is_quiet && __mcpc_boolean alone "$@"
}
__mcpc_to_args_int() {
  local __mcpc_problem
  (($#)) && __mcpc_is_quiet && __mcpc_integer alone "$@"
}
