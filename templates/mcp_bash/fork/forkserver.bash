# shellcheck shell=bash
# What `bash --norc --noprofile -c` runs to read the SDK once and run scripts, each in a separate child:
#
#   $0    a name, for messages
#   fd 3  the folder of the SDK; it ends with a null byte, as every text here
#   fd 4  a byte for every child that is to be ready for a call
#   fd 5  the calls, 48 characters each, as forkserver.bash of mcpc has them
#   fd 6  where `ready` is written once the SDK has been read
#
# Rule: a script finds the shell that would have been started for it: its name, its folder, its variables, no options,
# no arguments, no descriptor but three.  A call's texts: its number, its mark, the script, the folder, then a variable
# each as NAME=VALUE, and one more that means nothing here.  Two children are ready for a call: one becomes the script, and
# may do anything (traps, `exec`); the other watches it, says `pid N` once the script has all it needs, and `end N` last.
# A script that names another Bash is given to that.
#
# Bash parses all of this before it reads the SDK.
{
  if ((BASH_VERSINFO[0] < 5)); then exit 126; fi # BASH_ARGV0
  mapfile -d '' -t -u 3 __mcpc_texts
  exec 3<&-
  __mcpc_from='' __mcpc_names=()
  set --
  for __mcpc_index in MCP_TOOL_CANCELLATION_FILE MCP_PROGRESS_STREAM MCP_PROGRESS_TOKEN MCP_LOG_STREAM MCP_ELICIT_DEFAULT_TIMEOUT; do
    if [[ ! -v $__mcpc_index ]]; then __mcpc_names+=("$__mcpc_index"); fi
  done
  # shellcheck disable=SC1091
  source "${__mcpc_texts[0]}/tool-sdk.sh" >&2 4<&- 5<&- 6>&-
  set +o errexit +o nounset +o pipefail
  unset "${__mcpc_names[@]}" __mcpc_names __mcpc_texts
  set -o monitor
  builtin printf 'ready\n' >&6
  exec 6>&-

  while builtin read -r -u 4 -N 1 __mcpc_index; do
    (
      set +o monitor
      exec 4<&- 2>/dev/null
      builtin ulimit -S -x "$BASHPID" 2>/dev/null || : # what the script starts inherits it: see supervision/inherited.py
      shopt -s lastpipe
      (
        shopt -u lastpipe
        builtin read -r -u 5 -N 48 __mcpc_index || exit 0
        __mcpc_from=/proc/${__mcpc_index:40:8}/fd/
        exec 5<&- 3<"$__mcpc_from${__mcpc_index:10:6}" || exit 0
        builtin mapfile -d '' -t -u 3 __mcpc_texts
        exec 3<&-
        [[ ${__mcpc_texts[0]-} == "${__mcpc_index:0:10}" ]] || exit 0
        exec 9>&1 1>|"$__mcpc_from${__mcpc_index:16:6}" 2>|"$__mcpc_from${__mcpc_index:22:6}" || exit 0
        builtin printf '%s\n' "$__mcpc_from${__mcpc_index:28:6}" >&9
        exec 9>&-
        ((${#__mcpc_texts[@]} > 4)) || exit 0
        export MCPC_CALL=${__mcpc_texts[1]} "${__mcpc_texts[@]:4:${#__mcpc_texts[@]}-5}"
        cd -P -- "${__mcpc_texts[3]}" || exit 126
        unset OLDPWD
        declare -x OLDPWD
        BASH_ARGV0=${__mcpc_texts[2]}
        SECONDS=0
        if [[ ! -r $0 ]]; then exec -- "$0"; fi # which says what is wrong
        IFS= read -r __mcpc_index <"$0" || :
        if [[ $__mcpc_index == '#!'*/* && $__mcpc_index != '#!/usr/bin/env bash' && -x $0 ]]; then
          __mcpc_index=${__mcpc_index#'#!'}
          if [[ ! ${__mcpc_index//[[:blank:]]/} -ef $BASH && $__mcpc_index != */env[[:blank:]]* ]]; then exec -- "$0"; fi
        fi
        unset __mcpc_from __mcpc_index __mcpc_texts
        # shellcheck disable=SC1090
        source -- "$0"
      ) | {
        exec 5<&-
        builtin read -r __mcpc_index || exit 0
        trap '' HUP INT TERM
        exec 7>|"$__mcpc_index"
        builtin printf 'pid %s\n' "$BASHPID" >&7
      }
      set -- "${PIPESTATUS[0]}"
      builtin printf '\nend %s\n' "$1" >&7
      exit 0
    ) &
    builtin disown
  done
}
