# shellcheck shell=bash
# What `bash --norc --noprofile -c` runs to read a server script once and call its functions, each in a separate child:
#
#   $0    the path of the script
#   fd 3  the path of the script, and the folder of the project; each ends with a null byte
#   fd 4  a byte for every child that is to be ready for a call
#   fd 5  the calls, 48 characters each, as forkserver.bash of mcpc has them
#   fd 6  where `ready` is written when the script calls `run_mcp_server`
#
# Rule: `run_mcp_server` is the loop below, so that a function is called from the place where the SDK calls it: in a
# subshell of the script, without its traps, and without errexit unless the script sets inherit_errexit, too.  What the script does after it happens at the end of
# the server.  A call's texts and what a child says on its notes are those of forkserver.bash of mcpc.
#
# Bash parses all of this before it reads the script.
{
  if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then exit 126; fi
  mapfile -d '' -t -u 3 __mcpc_texts
  # The script may use descriptors of small numbers.
  exec 3<&- {__mcpc_log}>&2 {__mcpc_spares}<&4 {__mcpc_calls}<&5 {__mcpc_ready}>&6 4<&- 5<&- 6>&-
  __mcpc_script=${__mcpc_texts[0]} __mcpc_home=${__mcpc_texts[1]} __mcpc_log_file=${MCP_LOG_FILE-}
  set --
  unset __mcpc_texts

  # The end of the SDK's file calls this.
  __mcpc_core() {
    # shellcheck disable=SC2317
    run_mcp_server() { __mcpc_serve; }
    __mcpc_place_log
  }

  # A log file in the project's folder, which is removed with the server, is replaced by standard error.
  __mcpc_place_log() {
    if [[ ${MCP_LOG_FILE-} == "$__mcpc_home"/* && ${MCP_LOG_FILE@a} != *r* ]]; then
      MCP_LOG_FILE=${__mcpc_log_file:-/dev/fd/$__mcpc_log}
    fi
    return 0
  }

  # The script's trap for EXIT runs once, in this shell.  A child that is ended by a signal just after it was forked would
  # run it too, before Bash resets its traps.  SIGTERM is no reason to end here: it comes when the server has ended, and
  # so has the file of spares, and it would end the trap.
  # shellcheck disable=SC2120 # `set` below gives it what it reads
  __mcpc_keep_exit_trap() {
    __mcpc_exit_trap=$(builtin trap -p EXIT)
    if [[ -z $__mcpc_exit_trap ]]; then return 0; fi
    eval "set ${__mcpc_exit_trap#trap }" # -- COMMAND EXIT
    __mcpc_exit_trap=$1
    builtin trap 'case $BASHPID in "$$") eval "$__mcpc_exit_trap" ;; esac' EXIT
    if [[ -z $(builtin trap -p TERM) ]]; then builtin trap : TERM; fi
  }

  __mcpc_serve() {
    __mcpc_place_log
    __mcpc_options=${-//[!evx]/}
    if ! shopt -q inherit_errexit; then __mcpc_options=${__mcpc_options//e/}; fi
    set +o errexit +o xtrace +o verbose
    builtin trap - DEBUG RETURN ERR
    # shellcheck disable=SC2119
    __mcpc_keep_exit_trap
    set -o monitor
    builtin printf 'ready\n' >&"$__mcpc_ready"
    exec {__mcpc_ready}>&-

    while builtin read -r -u "$__mcpc_spares" -N 1 __mcpc_index; do
      (
        set +o monitor
        exec {__mcpc_spares}<&-
        builtin ulimit -S -x "$BASHPID" 2>/dev/null || : # what the call starts inherits it: see supervision/inherited.py
        builtin read -r -u "$__mcpc_calls" -N 48 __mcpc_index || exit 0
        __mcpc_from=/proc/${__mcpc_index:40:8}/fd/
        exec {__mcpc_calls}<&- 3<"$__mcpc_from${__mcpc_index:10:6}" || exit 0
        builtin mapfile -d '' -t -u 3 __mcpc_texts
        exec 3<&-
        [[ ${__mcpc_texts[0]-} == "${__mcpc_index:0:10}" ]] || exit 0
        exec 1>|"$__mcpc_from${__mcpc_index:28:6}" || exit 0
        exec 7>&1 1>|"$__mcpc_from${__mcpc_index:16:6}" 2>|"$__mcpc_from${__mcpc_index:22:6}" || exit 0
        builtin printf 'pid %s\n' "$BASHPID" >&7
        ((${#__mcpc_texts[@]} > 4)) || exit 0
        export MCPC_CALL=${__mcpc_texts[1]} MCPC_NOTES=7
        for ((__mcpc_index = 5; __mcpc_index < ${#__mcpc_texts[@]}; __mcpc_index += 3)); do
          export "${__mcpc_texts[__mcpc_index]}=${__mcpc_texts[__mcpc_index + 2]}"
        done
        set -- "${__mcpc_texts[2]}" "${__mcpc_texts[3]}" "${__mcpc_texts[4]}"
        if ! declare -F -- "$1" >/dev/null; then
          builtin printf '%s: there is no function "%s"\n' "${0##*/}" "$1"
          builtin printf '\nend 127\n' >&7
          exit 0
        fi
        unset __mcpc_calls __mcpc_from __mcpc_index __mcpc_ready __mcpc_script __mcpc_spares __mcpc_texts
        if [[ $3 == t* ]]; then
          set -- "$1" "$2" "${3#t}"
          exec 13>&2 2>/dev/null
          (
            exec 2>&13 13>&-
            if [[ -n $__mcpc_options ]]; then set "-$__mcpc_options"; fi
            if [[ -n $3 ]]; then "$1" "$2"; else "$1" "$2" || exit; fi
          )
          set -- "$?"
          exec 1>&- 13>&-
          builtin printf '\nend %s\n' "$1" >&7
          exit 0
        fi
        # What ends this child without `exit` and leaves no status is a signal.
        trap 'set -- "$?" "$BASH_COMMAND"
          exec >&7 2>&-
          case $* in
            0\ exit* | 0\ builtin* | 0\ command* | [1-9]*) builtin printf "\nend %s\n" "$1" ;;
          esac' EXIT
        if [[ -n $__mcpc_options ]]; then set "-$__mcpc_options"; fi
        # The SDK of bash-mcp-sdk tests the status where it calls, so that errexit never holds.
        if [[ -n $3 ]]; then "$1" "$2"; else "$1" "$2" || exit; fi
        exit
      ) &
      builtin disown
    done
    set +o monitor
  }

  exec >&2 # not of `source`: Bash would undo it where errexit ends a child, before traps
  # shellcheck disable=SC1090
  source -- "$__mcpc_script"
}
