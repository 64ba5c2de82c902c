# shellcheck shell=bash
# The functions that the tools and prompts of an mcbox project expect to find.
#
# Rule: reading this defines functions and does nothing else, not even start a process; every function bears
# `set -o errexit -o nounset -o pipefail`; only those that read JSON need jq, and say so if it is missing.
# Names that begin with `__mcpc_` are its own.

echo_stderr() {
  local IFS=' '
  printf '%s\n' "$*" >&2
}

# __mcpc_level VARIABLE LEVEL: sets VARIABLE to the number of LEVEL.
__mcpc_level() {
  case ${2,,} in
    trace) printf -v "$1" 1 ;;
    debug) printf -v "$1" 5 ;;
    warn) printf -v "$1" 13 ;;
    error) printf -v "$1" 17 ;;
    fatal) printf -v "$1" 21 ;;
    *) printf -v "$1" 9 ;;
  esac
}

log_level_to_num() {
  local __mcpc_number
  __mcpc_level __mcpc_number "${1-}"
  printf '%s\n' "$__mcpc_number"
}

# log LEVEL MESSAGE: called by log_LEVEL, whose caller is the function named in the line.
log() {
  local level=${1-} IFS=' ' __mcpc_number __mcpc_threshold
  __mcpc_level __mcpc_number "$level"
  __mcpc_level __mcpc_threshold "${MCBOX_LOG_LEVEL:-${OTEL_LOG_LEVEL:-info}}"
  ((__mcpc_number >= __mcpc_threshold)) || return 0
  printf '[%(%Y-%m-%d %H:%M:%S)T] [%s] [%s] [%s] %s\n' -1 "${level,,}" "${0##*/}" "${FUNCNAME[2]-main}" "${*:2}" >&2
}

log_trace() { log trace "$@"; }
log_debug() { log debug "$@"; }
log_info() { log info "$@"; }
log_warn() { log warn "$@"; }
log_error() { log error "$@"; }
log_fatal() { log fatal "$@"; }

is_cmd_available() {
  command -v -- "${1-}" >/dev/null 2>&1
}

is_non_empty_dir() {
  local - entry
  set +o noglob
  [[ -d ${1-} && -r $1 ]] || return 1
  for entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    [[ -e $entry || -L $entry ]] && return 0
  done
  return 1
}

is_readable_file() {
  [[ -f ${1-} && -r $1 ]]
}

text_trim() {
  local LC_ALL=C text IFS=' '
  if (($#)); then text=$*; else text=$(cat); fi
  text=${text#"${text%%[![:space:]]*}"}
  printf '%s' "${text%"${text##*[![:space:]]}"}"
}

# __mcpc_jq ARGUMENT…: runs jq without its complaints; a line that says there is no jq names the caller.
__mcpc_jq() {
  if is_cmd_available jq; then
    jq "$@" 2>/dev/null
  else
    log error 'jq is not installed'
    return 1
  fi
}

is_valid_json() {
  __mcpc_jq -es 'length == 1 and all(..; type != "number" or (isnan or isinfinite | not))' <<<"${1-}" >/dev/null
}

is_json_object() {
  __mcpc_jq -es 'length == 1 and (.[0] | type == "object")' <<<"${1-}" >/dev/null
}

json_object_has_key() {
  # shellcheck disable=SC2016 # $key is jq's.
  __mcpc_jq -es --arg key "${2-}" 'length == 1 and (.[0] | type == "object" and has($key))' <<<"${1-}" >/dev/null
}

json_merge_objects() {
  local merged
  # shellcheck disable=SC2016 # $count is jq's.
  if (($#)) && merged=$(printf '%s\n' "$@" | __mcpc_jq -ces --argjson count "$#" \
    'if length == $count and all(type == "object") then add else empty end'); then
    printf '%s\n' "$merged"
  else
    log_error 'cannot merge: one or more JSON objects are needed'
    return 1
  fi
}

json_read_file() {
  local value
  if ! is_readable_file "${1-}"; then
    log_error "file not accessible: ${1-}"
    return 1
  fi
  if value=$(__mcpc_jq -cs 'if length == 1 then .[0] else error end' <"$1"); then
    printf '%s\n' "$value"
  else
    log_error "not a JSON file: $1"
    return 1
  fi
}

# jsonschema_validate_schema INPUT SCHEMA: what mcbox checks of JSON Schema.  INPUT is an object that has what is
# required and nothing unknown, and each property is of its type; a property whose schema names no one type never fits.
jsonschema_validate_schema() {
  # shellcheck disable=SC2016 # These are variables of jq.
  printf '%s\n' "${1-}" "${2-}" | __mcpc_jq -es '
    def fits($wanted):
      if $wanted == "integer" then type == "number" and . == floor
      else type == $wanted and type != "null" end;
    length == 2 and (
      .[0] as $input | .[1] as $schema | ($schema.properties // {}) as $properties
      | ($input | type == "object")
      and all($schema.required // [] | .[]; . as $name | $input | has($name))
      and all($input | to_entries[]; .key as $name
        | ($properties | has($name)) and (.value | fits($properties[$name].type))))' >/dev/null
}

# jsonschema_validate_value VALUE SCHEMA: the same for one value of any type.
jsonschema_validate_value() {
  jsonschema_validate_schema "{\"value\":${1-}}" "{\"properties\":{\"value\":${2-}}}"
}

mcbox_get_config_home() {
  printf '%s\n' "${MCBOX_CONFIG_HOME:-${XDG_CONFIG_HOME:-${HOME-}/.config}/mcbox}"
}

mcbox_get_data_home() {
  printf '%s\n' "${MCBOX_DATA_HOME:-${XDG_DATA_HOME:-${HOME-}/.local/share}/mcbox}"
}

# __mcpc_json_string TEXT: sets __mcpc_string to TEXT as JSON.
# By lines, for a substitution in one long text takes Bash 4.4 the square of its length.
__mcpc_json_string() {
  local LC_ALL=C IFS=' ' lines code char escape
  mapfile -t lines <<<"$1"
  lines=("${lines[@]//\\/\\\\}")
  lines=("${lines[@]//\"/\\\"}")
  lines=("${lines[@]//$'\r'/\\r}")
  lines=("${lines[@]//$'\t'/\\t}")
  if [[ ${lines[*]} == *[[:cntrl:]]* ]]; then
    for code in {1..31}; do
      printf -v escape '\\u%04x' "$code"
      printf -v char '%b' "\\x${escape:4}"
      lines=("${lines[@]//"$char"/"$escape"}")
    done
  fi
  printf -v __mcpc_string '%s\\n' "${lines[@]}"
  __mcpc_string="\"${__mcpc_string%\\n}\""
}

mcp_create_text_content_object() {
  local __mcpc_string
  __mcpc_json_string "${1-}"
  printf '{"type":"text","text":%s}\n' "$__mcpc_string"
}
