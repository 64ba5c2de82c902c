# shellcheck shell=bash
# Files as a resource's contents.
#
# Rule: data that may not be text is encoded as base64.

# mcp_resource_detect_mime FILE [PRESET]: what `file` thinks; PRESET if there is no such program, or PRESET names a profile.
mcp_resource_detect_mime() {
  local __mcpc_preset=${2:-text/plain} __mcpc_kind=''
  if [[ $__mcpc_preset != *';profile='* ]]; then
    __mcpc_kind=$(file --mime --brief -- "$1" 2>/dev/null) || __mcpc_kind=''
    __mcpc_kind=${__mcpc_kind%%;*}
    __mcpc_kind=${__mcpc_kind//[[:space:]]/}
  fi
  __mcpc_kind=${__mcpc_kind:-$__mcpc_preset}
  if [[ $__mcpc_preset == *';profile='* ]]; then printf '%s' "$__mcpc_preset"; else printf '%s' "${__mcpc_kind,,}"; fi
}

mcp_resource_is_binary_mime() {
  case ${1,,} in
    *charset=binary*) return 0 ;;
    application/octet-stream | application/x-executable | application/pdf | application/zip) return 0 ;;
    application/x-gzip | application/x-bzip2 | application/x-xz | image/* | audio/* | video/*) return 0 ;;
    text/* | *json* | *xml* | *yaml* | *csv* | *javascript* | *x-shellscript* | *x-sh*) return 1 ;;
    *markdown* | *html* | *css*) return 1 ;;
    *) return 0 ;;
  esac
}

# mcp_resource_should_base64 FILE TYPE: also for what has a null byte in its first KiB, though its type is a text's.
mcp_resource_should_base64() {
  local LC_ALL=C __mcpc_start=''
  if mcp_resource_is_binary_mime "$2"; then return 0; fi
  # It stops at a null byte; without one, at so many bytes or at the end.
  if IFS= read -r -d '' -n 1024 __mcpc_start <"$1"; then ((${#__mcpc_start} < 1024)); else return 1; fi
}

# mcp_resource_content_object_from_file FILE [TYPE [URI]]
mcp_resource_content_object_from_file() {
  local __mcpc_mime __mcpc_out __mcpc_object='{'
  if [[ ! -r $1 || -d $1 ]]; then return 1; fi
  __mcpc_mime=$(mcp_resource_detect_mime "$1" "${2:-text/plain}")
  if [[ ${3-} ]]; then
    __mcpc_string "$3"
    __mcpc_object+="\"uri\":$__mcpc_out,"
  fi
  __mcpc_string "$__mcpc_mime"
  __mcpc_object+="\"mimeType\":$__mcpc_out,"
  if mcp_resource_should_base64 "$1" "$__mcpc_mime"; then
    __mcpc_out=$(base64 <"$1") || return 1
    printf '%s"blob":"%s"}' "$__mcpc_object" "${__mcpc_out//[$'\r\n']/}"
  else
    IFS= read -r -d '' __mcpc_out <"$1" || :
    while [[ $__mcpc_out == *$'\n' ]]; do __mcpc_out=${__mcpc_out%$'\n'}; done
    __mcpc_string "$__mcpc_out"
    printf '%s"text":%s}' "$__mcpc_object" "$__mcpc_out"
  fi
}
