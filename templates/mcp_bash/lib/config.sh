# shellcheck shell=bash
# A tool's configuration: JSON objects of several places, one on top of the other.
#
# Its law: the environment comes before the file, the file before the example, that before what the tool presets.

# __mcpc_is_object TEXT
__mcpc_is_object() {
  local __mcpc_out __mcpc_count
  __mcpc_compact "$1" && ((__mcpc_count == 1)) && [[ $__mcpc_out == \{* ]]
}

# __mcpc_put_over TEXT: puts an object on top of $merged of the caller, member by member.
__mcpc_put_over() {
  local __mcpc_out __mcpc_at place text=$merged
  local -a names=() values=() __mcpc_found
  __mcpc_read "$1" || :
  __mcpc_children 0
  for place in "${__mcpc_found[@]}"; do
    names+=("${__mcpc_tokens[place - 2]}")
    __mcpc_value "$place"
    values+=("$__mcpc_out")
  done
  for ((place = 0; place < ${#names[@]}; place++)); do
    __mcpc_read "$text" || :
    __mcpc_member 0 "${names[place]}"
    if [[ $__mcpc_at ]]; then
      __mcpc_replace "$__mcpc_at" "${values[place]}"
    else
      __mcpc_value 0
      text=${__mcpc_out%\}}
      if [[ $text != '{' ]]; then text+=,; fi
      text+="${names[place]}:${values[place]}}"
    fi
  done
  merged=$text
}

# __mcpc_replace PLACE VALUE: sets $text to what was read, with another value at a place.
__mcpc_replace() {
  local IFS='' last=${__mcpc_ends[$1]-$1}
  text="${__mcpc_tokens[*]:0:$1}$2${__mcpc_tokens[*]:last + 1}"
}

# __mcpc_add NAME TEXT: takes a place's text, if it is an object.
__mcpc_add() {
  if ! __mcpc_is_object "$2"; then
    mcp_log_warn config "$1 is not a JSON object"
    return 0
  fi
  __mcpc_put_over "$2"
  loaded=$((loaded + 1))
  mcp_log_debug config "The configuration of $1 is loaded"
}

# mcp_config_load [--env NAME] [--file PATH] [--example PATH] [--defaults JSON]: sets and exports MCP_CONFIG_JSON.
mcp_config_load() {
  local variable='' file='' example='' defaults='{}' merged loaded=0 text path
  while (($#)); do
    case $1 in
      --env) variable=${2-} ;;
      --file) file=${2-} ;;
      --example) example=${2-} ;;
      --defaults) defaults=${2-} ;;
      *) set -- '' "$@" ;;
    esac
    shift 2 || shift $#
  done
  if ! __mcpc_is_object "$defaults"; then
    mcp_log_warn config '--defaults is not a JSON object'
    defaults='{}'
  fi
  merged=$defaults
  for path in "$example" "$file"; do
    if [[ -f $path && -r $path ]]; then
      IFS= read -r -d '' text <"$path" || :
      __mcpc_add "$path" "$text"
    fi
  done
  if [[ $variable && ${!variable-} ]]; then
    text=${!variable}
    if [[ -f $text && -r $text ]] && ! __mcpc_is_object "$text"; then IFS= read -r -d '' text <"$text" || :; fi
    __mcpc_add "$variable" "$text"
  fi
  export MCP_CONFIG_JSON=$merged
  if ((loaded == 0)) && [[ $defaults == '{}' ]]; then
    mcp_log_warn config 'There is no configuration'
    return 1
  fi
}

# mcp_config_get FILTER [--default VALUE]: prints a value of it; 1 if there is none and nothing to take instead.
mcp_config_get() {
  local filter=${1-} preset='' is_preset='' __mcpc_out status=0
  shift || :
  while (($#)); do
    if [[ $1 == --default ]]; then preset=${2-} is_preset=1; else set -- '' "$@"; fi
    shift 2 || shift $#
  done
  if [[ -z $filter ]]; then
    mcp_log_warn config 'mcp_config_get: no value is named'
    return 1
  fi
  __mcpc_get MCP_CONFIG_JSON __mcpc_no_file "$filter" || status=$?
  if ((status == 0)) && [[ $__mcpc_out != null ]]; then
    printf '%s' "$__mcpc_out"
  elif [[ $is_preset ]]; then
    printf '%s' "$preset"
  else
    return 1
  fi
}
