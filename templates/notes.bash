# shellcheck shell=bash
# What a function may say and ask while it runs: progress, log messages, what has changed; the server's other tools,
# and the client.
#
# Rule: reading this defines functions and does nothing else, and they start no process.  A note is one JSON object in
# one line on the descriptor that MCPC_NOTES names, after MCPC_NOTE_PREFIX; without that variable nothing is written.
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
  { printf '%s\n' "${@/#/${MCPC_NOTE_PREFIX-}}" >&"$MCPC_NOTES"; } 2>/dev/null || :
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

# mcpc_updated URI: notifies subscribed clients that a resource has changed.
mcpc_updated() {
  local __mcpc_string
  __mcpc_json_string "${1-}"
  __mcpc_note "{\"updated\":$__mcpc_string}"
}

# mcpc_changed LIST: notifies clients that the list of tools, prompts or resources has changed.
mcpc_changed() {
  case ${1-} in
    tools | prompts | resources) __mcpc_note "{\"changed\":\"$1\"}" ;;
    *)
      printf 'mcpc_changed: there is no list of "%s"\n' "${1-}" >&2
      return 2
      ;;
  esac
}

# __mcpc_answer REPLY: waits for the answer to a note, and sets __mcpc_digit and __mcpc_text to what it is; 1 if there
# will be none.
__mcpc_answer() {
  local answer
  while IFS= read -r -d '' -u "$MCPC_ANSWERS" answer; do
    [[ $answer == "$1 "* ]] || continue
    answer=${answer#* }
    __mcpc_digit=${answer:0:1} __mcpc_text=${answer:2}
    return 0
  done
  return 1
}

# __mcpc_question MEMBERS KEY METHOD PARAMS: asks the client, and waits; complains in the name of its caller.
__mcpc_question() {
  local IFS=' ' __mcpc_string key lines reply=$((RANDOM * 30000 + RANDOM))
  __mcpc_digit=3 __mcpc_text='no server is there that could ask the client'
  if [[ ${MCPC_NOTES-} == +([0-9]) && ${MCPC_ANSWERS-} == +([0-9]) ]]; then
    __mcpc_json_string "$2"
    key=$__mcpc_string
    __mcpc_json_string "$3"
    mapfile -t lines <<<"$4"
    key+=":{\"method\":$__mcpc_string,\"params\":${lines[*]}}"
    __mcpc_note "{\"ask\":{$key},$1\"reply\":$reply}" "asked $reply"
    __mcpc_answer "$reply" || __mcpc_text='the server has gone'
  fi
  [[ $__mcpc_digit != 3 ]] || printf '%s: %s\n' "${FUNCNAME[1]}" "$__mcpc_text" >&2
}

# mcpc_ask KEY METHOD [PARAMS]: asks the client (elicitation/create, sampling/createMessage or roots/list, with a JSON
# object), prints its answer as JSON, and returns 1 if there is none.  KEY names the question: the function may be run
# again from its beginning when the answer has come, and is given it then.  One question at a time.
mcpc_ask() {
  local LC_ALL=C __mcpc_digit __mcpc_text params=${3:-'{}'}
  __mcpc_question '' "${1-}" "${2-}" "$params"
  [[ $__mcpc_digit == 0 ]] || return 1
  printf '%s\n' "$__mcpc_text"
}

# mcpc_elicit KEY MESSAGE [SCHEMA]: asks the user, by a form if there is a SCHEMA for one; prints what was filled in as
# a JSON object.  0 accepted, 1 declined, 2 dismissed, 3 no client can be asked.
mcpc_elicit() {
  local LC_ALL=C __mcpc_digit __mcpc_text __mcpc_string schema=${3:-'{"type":"object","properties":{}}'}
  __mcpc_json_string "${2-}"
  __mcpc_question '"form":true,' "${1-}" elicitation/create "{\"message\":$__mcpc_string,\"requestedSchema\":$schema}"
  [[ $__mcpc_digit != 0 ]] || printf '%s\n' "$__mcpc_text"
  return "$__mcpc_digit"
}

# mcpc_call TOOL [ARGUMENTS]: calls another tool of the server with a JSON object, prints its text, and returns 1 if
# that is an error.  One call at a time: two at once in one function would read each other's answers.
mcpc_call() {
  local IFS=' ' LC_ALL=C __mcpc_string __mcpc_digit __mcpc_text arguments=${2:-'{}'} lines reply=$((RANDOM * 30000 + RANDOM))
  if [[ ${MCPC_NOTES-} != +([0-9]) || ${MCPC_ANSWERS-} != +([0-9]) ]]; then
    printf 'mcpc_call: no server is there to call a tool\n' >&2
    return 1
  fi
  __mcpc_json_string "${1-}"
  mapfile -t lines <<<"$arguments"
  __mcpc_note "{\"call\":$__mcpc_string,\"arguments\":${lines[*]},\"reply\":$reply}" "called $reply"
  if __mcpc_answer "$reply"; then
    printf '%s\n' "$__mcpc_text"
    [[ $__mcpc_digit == 0 ]]
    return
  fi
  printf 'mcpc_call: the server has gone\n' >&2
  return 1
}
