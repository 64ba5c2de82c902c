# shellcheck shell=bash
# What a tool asks the user, by way of the server and the client.
#
# Its law: the question lies in its file as a whole before the server hears of it, and one that nobody waits for any
# longer is taken away.  Prints {"action":…,"content":…}; status 1 if nobody answered.

# __mcpc_pause SECONDS: waits without a process, by reading what never comes; with `sleep` where that is at its end.
__mcpc_pause() {
  local status=0
  if [[ -z ${__mcpc_silence-} ]]; then
    if ! { exec {__mcpc_silence}<> <(:); } 2>/dev/null; then __mcpc_silence=none; fi
  fi
  if [[ $__mcpc_silence != none ]]; then
    read -r -t "$1" -u "$__mcpc_silence" _ || status=$?
    if ((status > 128)); then return 0; fi
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
  local request=${MCP_ELICIT_REQUEST_FILE-} response=${MCP_ELICIT_RESPONSE_FILE-} seconds=$2 __mcpc_out waited=0 step
  if [[ ${MCP_ELICIT_SUPPORTED:-0} != 1 ]]; then
    __mcpc_nobody decline 'the client cannot ask its user'
    return
  elif [[ -z $request || -z $response ]]; then
    __mcpc_nobody error 'the server did not say where questions go'
    return
  fi
  if [[ -z $seconds || $seconds == *[!0-9]* ]]; then seconds=30; fi
  if [[ -e $response ]]; then rm -f -- "$response"; fi
  if ! { printf '%s' "$1" >"$request.new" && mv -f -- "$request.new" "$request"; } 2>/dev/null; then
    __mcpc_nobody error 'the question could not be written'
    return
  fi
  if [[ -p $MCP_PROGRESS_STREAM ]]; then printf '{"elicit":true}\n' 2>/dev/null >>"$MCP_PROGRESS_STREAM" || :; fi
  while [[ ! -f $response ]]; do
    if mcp_is_cancelled; then
      rm -f -- "$request"
      __mcpc_nobody cancel ''
      return
    elif ((waited >= seconds * 1000)); then
      rm -f -- "$request"
      __mcpc_nobody error "no answer came within $seconds s"
      return
    fi
    if ((waited < 200)); then step=2; elif ((waited < 2000)); then step=20; else step=50; fi
    printf -v __mcpc_out '0.%03d' "$step"
    __mcpc_pause "$__mcpc_out"
    waited=$((waited + step))
  done
  IFS= read -r -d '' __mcpc_out <"$response" || :
  rm -f -- "$response"
  while [[ $__mcpc_out == *$'\n' ]]; do __mcpc_out=${__mcpc_out%$'\n'}; done
  printf '%s' "$__mcpc_out"
}

# mcp_elicit MESSAGE SCHEMA [SECONDS [form|url]]
mcp_elicit() {
  local message __mcpc_out __mcpc_count
  __mcpc_string "$1"
  message=$__mcpc_out
  __mcpc_string "${4:-form}"
  set -- "$2" "${3:-$MCP_ELICIT_DEFAULT_TIMEOUT}" "$__mcpc_out"
  if ! __mcpc_compact "$1" || ((__mcpc_count != 1)); then
    __mcpc_complain 'mcp_elicit: the schema is not JSON'
    printf '{"action":"error","content":null}'
    return 1
  fi
  __mcpc_question "{\"message\":$message,\"schema\":$__mcpc_out,\"mode\":$3}" "$2"
}

# mcp_elicit_url MESSAGE URL [SECONDS]: has the user do something in a browser.
mcp_elicit_url() {
  local message __mcpc_out
  __mcpc_string "$1"
  message=$__mcpc_out
  __mcpc_string "$2"
  __mcpc_question "{\"message\":$message,\"url\":$__mcpc_out,\"mode\":\"url\"}" "${3:-$MCP_ELICIT_DEFAULT_TIMEOUT}"
}

# __mcpc_form MESSAGE NAME SCHEMA: asks for one field.
__mcpc_form() {
  local __mcpc_out
  __mcpc_string "$2"
  mcp_elicit "$1" "{\"type\":\"object\",\"properties\":{$__mcpc_out:$3},\"required\":[$__mcpc_out]}"
}

# __mcpc_titled CHOICE…: sets __mcpc_out to a list of constants with titles; a choice is `value:title`, or both in one.
__mcpc_titled() {
  local choice list=
  for choice; do
    __mcpc_string "${choice%%:*}"
    list+=",{\"const\":$__mcpc_out"
    __mcpc_string "${choice#*:}"
    list+=",\"title\":$__mcpc_out}"
  done
  __mcpc_out="[${list:1}]"
}

mcp_elicit_string() { __mcpc_form "$1" "${2:-value}" '{"type":"string"}'; }

mcp_elicit_confirm() { __mcpc_form "$1" confirmed '{"type":"boolean"}'; }

mcp_elicit_choice() {
  local list
  list=$(mcp_json_arr "${@:2}")
  __mcpc_form "$1" choice "{\"type\":\"string\",\"enum\":$list}"
}

mcp_elicit_multi_choice() {
  local list
  list=$(mcp_json_arr "${@:2}")
  __mcpc_form "$1" choices "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":$list}}"
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
