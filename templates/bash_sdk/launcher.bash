# shellcheck shell=bash
# What `bash --norc --noprofile -c` runs to call one function of a server script where no fork server does:
#
#   $1    the function to call
#   $2    how many texts follow the argument, if any: variables, each a name, `+`, and its value
#   $3    how many texts there are in all, if something else may follow them; 0 for all that come
#   $4    `f` if errexit holds where the function sets it
#   fd 4  where errors go, if it is open
#   fd 3  texts that each end with a null byte: the path of the script, the folder of the project, the argument,
#         and the variables
#
# Rule: the function is called when the script calls `run_mcp_server`, in a subshell, as the SDK does; then this shell
# ends.  What the script itself prints is not the function's, and goes to the standard error this was started with.
# Status: the function's own; 127 there is no such function; 126 the script did not get as far.
exec {__mcpc_log}>&2 {__mcpc_output}>&1
if { true >&4; } 2>/dev/null; then
  exec {__mcpc_errors}>&4 4>&-
else
  exec {__mcpc_errors}>&2
fi
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
  printf '%s: Bash %s is too old, 4.4 or newer is needed\n' "${0##*/}" "$BASH_VERSION"
  exit 126
fi
if ! mapfile -d '' -t -n "${3-0}" -u 3 __mcpc_texts || ((${#__mcpc_texts[@]} < 3)); then
  printf '%s: the script and the argument did not arrive\n' "${0##*/}"
  exit 126
fi
exec 3<&-
__mcpc_function=$1 __mcpc_errexit=${4-} __mcpc_home=${__mcpc_texts[1]} __mcpc_log_file=${MCP_LOG_FILE-}
# Bash 4.4 does not have it: there `$0` is the name of the script alone.
# shellcheck disable=SC2034
BASH_ARGV0=${__mcpc_texts[0]}
set --

__mcpc_core() {
  # shellcheck disable=SC2317
  run_mcp_server() { __mcpc_serve; }
  __mcpc_place_log
}

__mcpc_place_log() {
  if [[ ${MCP_LOG_FILE-} == "$__mcpc_home"/* && ${MCP_LOG_FILE@a} != *r* ]]; then
    MCP_LOG_FILE=${__mcpc_log_file:-/dev/fd/$__mcpc_log}
  fi
  return 0
}

__mcpc_serve() {
  __mcpc_place_log
  trap - EXIT DEBUG RETURN ERR
  if ! shopt -q inherit_errexit; then set +o errexit; fi
  exec 1>&"$__mcpc_output" 2>&"$__mcpc_errors" {__mcpc_output}>&- {__mcpc_errors}>&-
  if ! declare -F -- "$__mcpc_function" >/dev/null; then
    printf '%s: there is no function "%s"\n' "${0##*/}" "$__mcpc_function"
    exit 127
  fi
  set -- "$__mcpc_function" "${__mcpc_texts[2]}" "$__mcpc_errexit"
  for ((__mcpc_index = 3; __mcpc_index < ${#__mcpc_texts[@]}; __mcpc_index += 3)); do
    export "${__mcpc_texts[__mcpc_index]}=${__mcpc_texts[__mcpc_index + 2]}"
  done
  unset __mcpc_errexit __mcpc_errors __mcpc_function __mcpc_index __mcpc_output __mcpc_texts
  if [[ -n $3 ]]; then ("$1" "$2"); else ("$1" "$2") || exit; fi
  exit
}

trap 'printf "%s: the script ended before it called run_mcp_server\n" "${0##*/}" >&"$__mcpc_output"
exit 126' EXIT
exec >&"$__mcpc_log" 2>&1
# shellcheck disable=SC1090
source -- "${__mcpc_texts[0]}"
