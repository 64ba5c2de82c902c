# shellcheck shell=bash disable=SC2154 # The variables are of tool-sdk.sh and its parts.
# The programs that do what Bash is too slow for, or does not know: the server's Python, and jq if there is one.
#
# Rule: the answer does not depend on the program; if none is available, the missing one is named.

__mcpc_python_found='' __mcpc_jq_found=''

# __mcpc_python: tells whether there is a Python, the server's own (MCPC_PYTHON) if it says which.
__mcpc_python() {
  if [[ -z $__mcpc_python_found ]]; then
    __mcpc_python_found=$(command -v -- "${MCPC_PYTHON:-python3}" 2>/dev/null) || __mcpc_python_found=none
  fi
  [[ $__mcpc_python_found != none ]]
}

# __mcpc_in_python PROGRAM WORD…: runs one of lib/python.
__mcpc_in_python() { "$__mcpc_python_found" -X utf8 -BESs "$__mcpc_lib/python/$1.py" "${@:2}"; }

__mcpc_jq() {
  if [[ -z $__mcpc_jq_found ]]; then
    __mcpc_jq_found=$(command -v -- "${MCPBASH_JSON_TOOL_BIN:-jq}" 2>/dev/null) || __mcpc_jq_found=none
  fi
  [[ $__mcpc_jq_found != none ]]
}

# __mcpc_tool FILTER TEXT: sets __mcpc_out to what jq says, or Python, which knows less; 3 if nobody understands it.
__mcpc_tool() {
  local - __mcpc_status=3
  set +ex
  if __mcpc_python && ((${#2} > __mcpc_most)) || ! __mcpc_jq; then
    if __mcpc_python; then
      __mcpc_out=$(__mcpc_in_python json_filter "$1" <<<"$2" 2>/dev/null) && return 0 || __mcpc_status=$?
    fi
    if ! __mcpc_jq; then
      if ((__mcpc_status == 3)); then __mcpc_complain "\"$1\" is more of jq's language than there is without jq"; fi
      return "$__mcpc_status"
    fi
    if ((__mcpc_status != 3)); then return "$__mcpc_status"; fi
  fi
  __mcpc_status=0
  __mcpc_out=$("$__mcpc_jq_found" -rc "$1" <<<"$2" 2>/dev/null) || __mcpc_status=$?
  if [[ $OSTYPE == @(msys|cygwin)* ]]; then # jq for Windows ends lines as programs do there
    __mcpc_out=${__mcpc_out//$'\r\n'/$'\n'}
    __mcpc_out=${__mcpc_out%$'\r'}
  fi
  return "$__mcpc_status"
}
