# shellcheck shell=bash
# What a function may say while it runs: progress, log messages, and calls of the server's other tools.
#
# Its law: reading this defines functions and does nothing else, and they start no process.  A note is one JSON object in
# one line on the descriptor that MCPC_NOTES names; without that variable nobody listens, and nothing is said.
# It is read after mcbox.bash, which writes JSON strings for it.  Names that begin with `__mcpc_` are its own.

# mcpc_json_string TEXT: prints TEXT as a JSON string.
mcpc_json_string() {
  local __mcpc_string
  __mcpc_json_string "${1-}"
  printf '%s\n' "$__mcpc_string"
}

# __mcpc_note LINE…: one write, so that what others write does not come between.
__mcpc_note() {
  [[ ${MCPC_NOTES-} == +([0-9]) ]] || return 0
  { printf '%s\n' "$@" >&"$MCPC_NOTES"; } 2>/dev/null || :
}

# mcpc_progress VALUE [TOTAL [MESSAGE]]
mcpc_progress() {
  local number='^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$' note __mcpc_string
  if [[ ! ${1-} =~ $number || ! ${2:-0} =~ $number ]]; then
    printf 'mcpc_progress: VALUE and TOTAL are numbers\n' >&2
    return 2
  fi
  note="{\"progress\":$1${2:+,\"total\":$2}"
  if (($# > 2)); then
    __mcpc_json_string "$3"
    note+=",\"message\":$__mcpc_string"
  fi
  __mcpc_note "$note}"
}

# mcpc_log LEVEL MESSAGE…
mcpc_log() {
  local IFS=' ' __mcpc_string
  case ${1-} in
    debug | info | notice | warning | error | critical | alert | emergency) ;;
    *)
      printf 'mcpc_log: no level is called "%s"\n' "${1-}" >&2
      return 2
      ;;
  esac
  __mcpc_json_string "${*:2}"
  __mcpc_note "{\"log\":\"$1\",\"data\":$__mcpc_string}"
}

# mcpc_call TOOL [ARGUMENTS]: calls another tool of the server with a JSON object, prints its text, and returns 1 if
# that is an error.  One call at a time: two at once in one function would read each other's answers.
mcpc_call() {
  local IFS=' ' LC_ALL=C __mcpc_string arguments=${2:-'{}'} lines answer reply=$((RANDOM * 30000 + RANDOM))
  if [[ ${MCPC_NOTES-} != +([0-9]) || ${MCPC_ANSWERS-} != +([0-9]) ]]; then
    printf 'mcpc_call: no server is there to call a tool\n' >&2
    return 1
  fi
  __mcpc_json_string "${1-}"
  mapfile -t lines <<<"$arguments"
  __mcpc_note "{\"call\":$__mcpc_string,\"arguments\":${lines[*]},\"reply\":$reply}" "called $reply"
  while IFS= read -r -d '' -u "$MCPC_ANSWERS" answer; do
    [[ $answer == "$reply "* ]] || continue
    answer=${answer#* }
    printf '%s\n' "${answer#* }"
    [[ $answer == 0\ * ]]
    return
  done
  printf 'mcpc_call: the server has gone\n' >&2
  return 1
}
