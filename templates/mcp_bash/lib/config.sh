# shellcheck shell=bash
# A tool's configuration: JSON objects of several places, one on top of the other.
#
# Rule: the environment comes before the file, the file before the example, that before what the tool presets.

# __mcpc_is_object TEXT
__mcpc_is_object() {
  local __mcpc_out __mcpc_count
  __mcpc_compact "$1" && ((__mcpc_count == 1)) && [[ $__mcpc_out == \{* ]]
}

# __mcpc_put_over TEXT: puts an object on top of $__mcpc_merged of the caller, member by member.
__mcpc_put_over() {
  local __mcpc_out __mcpc_at __mcpc_index __mcpc_text=$__mcpc_merged
  local -a __mcpc_names=() __mcpc_values=() __mcpc_found
  __mcpc_read "$1" || :
  __mcpc_children 0
  for __mcpc_index in "${__mcpc_found[@]}"; do
    __mcpc_names+=("${__mcpc_tokens[__mcpc_index - 2]}")
    __mcpc_value "$__mcpc_index"
    __mcpc_values+=("$__mcpc_out")
  done
  for ((__mcpc_index = 0; __mcpc_index < ${#__mcpc_names[@]}; __mcpc_index++)); do
    __mcpc_read "$__mcpc_text" || :
    __mcpc_member 0 "${__mcpc_names[__mcpc_index]}"
    if [[ $__mcpc_at ]]; then
      __mcpc_replace "$__mcpc_at" "${__mcpc_values[__mcpc_index]}"
    else
      __mcpc_value 0
      __mcpc_text=${__mcpc_out%\}}
      if [[ $__mcpc_text != '{' ]]; then __mcpc_text+=,; fi
      __mcpc_text+="${__mcpc_names[__mcpc_index]}:${__mcpc_values[__mcpc_index]}}"
    fi
  done
  __mcpc_merged=$__mcpc_text
}

# __mcpc_replace PLACE VALUE: sets $__mcpc_text to what was read, with another value at a place.
__mcpc_replace() {
  local IFS='' __mcpc_last=${__mcpc_ends[$1]-$1}
  __mcpc_text="${__mcpc_tokens[*]:0:$1}$2${__mcpc_tokens[*]:__mcpc_last + 1}"
}

# __mcpc_add NAME TEXT: takes a place's text, if it is an object.
__mcpc_add() {
  if ! __mcpc_is_object "$2"; then
    mcp_log_warn config "$1 is not a JSON object"
    return 0
  fi
  __mcpc_put_over "$2"
  __mcpc_loaded=$((__mcpc_loaded + 1))
  mcp_log_debug config "The configuration of $1 is loaded"
}

# mcp_config_load [--env NAME] [--file PATH] [--example PATH] [--defaults JSON]: sets and exports MCP_CONFIG_JSON.
mcp_config_load() {
  local __mcpc_variable='' __mcpc_file='' __mcpc_example='' __mcpc_defaults='{}'
  local __mcpc_merged __mcpc_loaded=0 __mcpc_text __mcpc_path
  while (($#)); do
    case $1 in
      --env) __mcpc_variable=${2-} ;;
      --file) __mcpc_file=${2-} ;;
      --example) __mcpc_example=${2-} ;;
      --defaults) __mcpc_defaults=${2-} ;;
      *) set -- '' "$@" ;;
    esac
    shift 2 || shift $#
  done
  if ! __mcpc_is_object "$__mcpc_defaults"; then
    mcp_log_warn config '--defaults is not a JSON object'
    __mcpc_defaults='{}'
  fi
  __mcpc_merged=$__mcpc_defaults
  for __mcpc_path in "$__mcpc_example" "$__mcpc_file"; do
    if [[ -f $__mcpc_path && -r $__mcpc_path ]]; then
      IFS= read -r -d '' __mcpc_text <"$__mcpc_path" || :
      __mcpc_add "$__mcpc_path" "$__mcpc_text"
    fi
  done
  if [[ $__mcpc_variable && ${!__mcpc_variable-} ]]; then
    __mcpc_text=${!__mcpc_variable}
    if [[ -f $__mcpc_text && -r $__mcpc_text ]] && ! __mcpc_is_object "$__mcpc_text"; then
      IFS= read -r -d '' __mcpc_text <"$__mcpc_text" || :
    fi
    __mcpc_add "$__mcpc_variable" "$__mcpc_text"
  fi
  export MCP_CONFIG_JSON=$__mcpc_merged
  if ((__mcpc_loaded == 0)) && [[ $__mcpc_defaults == '{}' ]]; then
    mcp_log_warn config 'There is no configuration'
    return 1
  fi
}

# mcp_config_get FILTER [--default VALUE]: prints a value of it; 1 if there is none and nothing to take instead.
mcp_config_get() {
  local __mcpc_filter=${1-} __mcpc_preset='' __mcpc_is_preset='' __mcpc_out __mcpc_status=0
  shift || :
  while (($#)); do
    if [[ $1 == --default ]]; then __mcpc_preset=${2-} __mcpc_is_preset=1; else set -- '' "$@"; fi
    shift 2 || shift $#
  done
  if [[ -z $__mcpc_filter ]]; then
    mcp_log_warn config 'mcp_config_get: no value is named'
    return 1
  fi
  __mcpc_get MCP_CONFIG_JSON __mcpc_no_file "$__mcpc_filter" || __mcpc_status=$?
  if ((__mcpc_status == 0)) && [[ $__mcpc_out != null ]]; then
    printf '%s' "$__mcpc_out"
  elif [[ $__mcpc_is_preset ]]; then
    printf '%s' "$__mcpc_preset"
  else
    return 1
  fi
}
