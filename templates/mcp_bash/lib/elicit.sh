# shellcheck shell=bash
# What a tool asks the user, by way of the server and the client.
#
# Rule: the question lies in its file as a whole before the server hears of it, and one that nobody waits for any
# longer is taken away.  Prints {"action":…,"content":…}; status 1 without an answer.

# __mcpc_pause SECONDS: waits without a process, by reading what never comes; with `sleep` where that is at its end.
__mcpc_pause() {
  local __mcpc_status=0
  if [[ -z ${__mcpc_silence-} ]]; then
    if ! { exec {__mcpc_silence}<> <(:); } 2>/dev/null; then __mcpc_silence=none; fi
  fi
  if [[ $__mcpc_silence != none ]]; then
    read -r -t "$1" -u "$__mcpc_silence" _ || __mcpc_status=$?
    if ((__mcpc_status > 128)); then return 0; fi
    __mcpc_silence=none
  fi
  sleep "$1"
}

# __mcpc_nobody ACTION WHY: answers for the user, and says why.
__mcpc_nobody() {
  if [[ $2 ]]; then __mcpc_complain "${FUNCNAME[2]}: $2"; fi
  printf '{"action":"%s","content":null}' "$1"
  return 1
}

# __mcpc_question REQUEST SECONDS: asks, and prints what came back.
__mcpc_question() {
  local __mcpc_request=${MCP_ELICIT_REQUEST_FILE-} __mcpc_response=${MCP_ELICIT_RESPONSE_FILE-} __mcpc_seconds=$2
  local __mcpc_out __mcpc_waited=0 __mcpc_step
  if [[ ${MCP_ELICIT_SUPPORTED:-0} != 1 ]]; then
    __mcpc_nobody decline 'the client cannot ask its user'
    return
  elif [[ -z $__mcpc_request || -z $__mcpc_response ]]; then
    __mcpc_nobody error 'the server did not say where questions go'
    return
  fi
  if [[ -z $__mcpc_seconds || $__mcpc_seconds == *[!0-9]* ]]; then __mcpc_seconds=30; fi
  if [[ -e $__mcpc_response ]]; then rm -f -- "$__mcpc_response"; fi
  if ! { printf '%s' "$1" >"$__mcpc_request.new" && mv -f -- "$__mcpc_request.new" "$__mcpc_request"; } \
    2>/dev/null; then
    __mcpc_nobody error 'the question could not be written'
    return
  fi
  if [[ -p $MCP_PROGRESS_STREAM ]]; then printf '{"elicit":true}\n' 2>/dev/null >>"$MCP_PROGRESS_STREAM" || :; fi
  while [[ ! -f $__mcpc_response ]]; do
    if mcp_is_cancelled; then
      rm -f -- "$__mcpc_request"
      __mcpc_nobody cancel ''
      return
    elif ((__mcpc_waited >= __mcpc_seconds * 1000)); then
      rm -f -- "$__mcpc_request"
      __mcpc_nobody error "no answer came within $__mcpc_seconds s"
      return
    fi
    __mcpc_step=50
    if ((__mcpc_waited < 200)); then __mcpc_step=2; elif ((__mcpc_waited < 2000)); then __mcpc_step=20; fi
    printf -v __mcpc_out '0.%03d' "$__mcpc_step"
    __mcpc_pause "$__mcpc_out"
    __mcpc_waited=$((__mcpc_waited + __mcpc_step))
  done
  IFS= read -r -d '' __mcpc_out <"$__mcpc_response" || :
  rm -f -- "$__mcpc_response"
  while [[ $__mcpc_out == *$'\n' ]]; do __mcpc_out=${__mcpc_out%$'\n'}; done
  printf '%s' "$__mcpc_out"
}

# mcp_elicit MESSAGE SCHEMA [SECONDS [form|url]]
mcp_elicit() {
  local __mcpc_message __mcpc_out __mcpc_count
  __mcpc_string "$1"
  __mcpc_message=$__mcpc_out
  __mcpc_string "${4:-form}"
  set -- "$2" "${3:-$MCP_ELICIT_DEFAULT_TIMEOUT}" "$__mcpc_out"
  if ! __mcpc_compact "$1" || ((__mcpc_count != 1)); then
    __mcpc_complain 'mcp_elicit: the schema is not JSON'
    printf '{"action":"error","content":null}'
    return 1
  fi
  __mcpc_question "{\"message\":$__mcpc_message,\"schema\":$__mcpc_out,\"mode\":$3}" "$2"
}

# mcp_elicit_url MESSAGE URL [SECONDS]: has the user do something in a browser.
mcp_elicit_url() {
  local __mcpc_message __mcpc_out
  __mcpc_string "$1"
  __mcpc_message=$__mcpc_out
  __mcpc_string "$2"
  __mcpc_question "{\"message\":$__mcpc_message,\"url\":$__mcpc_out,\"mode\":\"url\"}" \
    "${3:-$MCP_ELICIT_DEFAULT_TIMEOUT}"
}

# __mcpc_form MESSAGE NAME SCHEMA: asks for one field.
__mcpc_form() {
  local __mcpc_out
  __mcpc_string "$2"
  mcp_elicit "$1" "{\"type\":\"object\",\"properties\":{$__mcpc_out:$3},\"required\":[$__mcpc_out]}"
}

# __mcpc_titled CHOICE…: sets __mcpc_out to a list of constants with titles; a choice is `value:title`, or both in one.
__mcpc_titled() {
  local __mcpc_choice __mcpc_list=
  for __mcpc_choice; do
    __mcpc_string "${__mcpc_choice%%:*}"
    __mcpc_list+=",{\"const\":$__mcpc_out"
    __mcpc_string "${__mcpc_choice#*:}"
    __mcpc_list+=",\"title\":$__mcpc_out}"
  done
  __mcpc_out="[${__mcpc_list:1}]"
}

mcp_elicit_string() { __mcpc_form "$1" "${2:-value}" '{"type":"string"}'; }

mcp_elicit_confirm() { __mcpc_form "$1" confirmed '{"type":"boolean"}'; }

mcp_elicit_choice() {
  local __mcpc_list
  __mcpc_list=$(mcp_json_arr "${@:2}")
  __mcpc_form "$1" choice "{\"type\":\"string\",\"enum\":$__mcpc_list}"
}

mcp_elicit_multi_choice() {
  local __mcpc_list
  __mcpc_list=$(mcp_json_arr "${@:2}")
  __mcpc_form "$1" choices "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":$__mcpc_list}}"
}

mcp_elicit_titled_choice() {
  local __mcpc_out
  __mcpc_titled "${@:2}"
  __mcpc_form "$1" choice "{\"type\":\"string\",\"oneOf\":$__mcpc_out}"
}

mcp_elicit_titled_multi_choice() {
  local __mcpc_out
  __mcpc_titled "${@:2}"
  __mcpc_form "$1" choices "{\"type\":\"array\",\"items\":{\"oneOf\":$__mcpc_out}}"
}
