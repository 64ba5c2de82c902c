# shellcheck shell=bash
# What `bash --norc --noprofile -c` runs to read libraries once and call functions of them, each in a separate child:
#
#   $0    the name of the library's file, for messages
#   fd 3  texts that each end with a null byte: the libraries in the order to read them
#   fd 4  a byte for every child that is to be ready for a call
#   fd 5  the calls, 48 characters each: a number of 10, then 6 each for the descriptors of the texts, both outputs,
#         notes and answers, and 8 for the process that has them, each filled up with slashes
#   fd 6  where `ready` is written once the libraries have been read
#
# Rule: a function finds the shell that launcher.bash would give it, and nothing it changes is seen by the next.  A
# child opens what belongs to its call by itself, so that no other process has it.  A call's texts: its number, mark,
# function and argument, letters (`t` if a second child watches the function; `e` if errexit holds in it as the libraries
# left it, `f` if only where it is set in a function), then a name, a count and so many values for each
# variable (`=` counts one value that is no array, `+` one that is exported).  On its notes a child says `pid N` first
# and `end N` last, and nothing if it finds the number of another call.  A child that is killed, or whose function takes
# `exec`, says no `end`.
#
# Bash parses all of this before it reads a library, so that no alias of one has a hand in it.
{
  if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then exit 126; fi
  mapfile -d '' -t -u 3 __mcpc_texts
  exec 3<&-
  __mcpc_from=
  set --
  set -o errexit -o nounset -o pipefail
  __mcpc_place=/dev/fd
  for ((__mcpc_index = 0; __mcpc_index < ${#__mcpc_texts[@]}; __mcpc_index++)); do
    # shellcheck disable=SC1091,SC2016 # See launcher.bash.
    source "$__mcpc_place/9" 9<<<'eval "${__mcpc_texts[__mcpc_index]}"' >&2 4<&- 5<&- 6>&-
    __mcpc_place+=/.
  done
  __mcpc_options=$-
  set +o errexit +o xtrace +o verbose
  # A child begins without traps: each sets the library's anew, and the loop below is spared them.
  __mcpc_traps=$(builtin trap -p)
  if [[ -n $__mcpc_traps ]]; then builtin trap - EXIT DEBUG RETURN ERR {1..31}; fi
  unset __mcpc_place __mcpc_texts
  set -o monitor
  builtin printf 'ready\n' >&6
  exec 6>&-

  while builtin read -r -u 4 -N 1 __mcpc_index; do
    (
      set +o monitor
      exec 4<&-
      builtin ulimit -S -x "$BASHPID" 2>/dev/null || : # what the call starts inherits it: see supervision/inherited.py
      builtin read -r -u 5 -N 48 __mcpc_index || exit 0
      __mcpc_from=/proc/${__mcpc_index:40:8}/fd/
      exec 5<&- 3<"$__mcpc_from${__mcpc_index:10:6}" || exit 0
      builtin mapfile -d '' -t -u 3 __mcpc_texts
      exec 3<&-
      [[ ${__mcpc_texts[0]-} == "${__mcpc_index:0:10}" ]] || exit 0
      exec 1>|"$__mcpc_from${__mcpc_index:28:6}" || exit 0
      exec 7>&1 1>|"$__mcpc_from${__mcpc_index:16:6}" 2>|"$__mcpc_from${__mcpc_index:22:6}" || exit 0
      if [[ ${__mcpc_index:34:6} != ////// ]]; then
        exec 8<"$__mcpc_from${__mcpc_index:34:6}" || exit 0
        export MCPC_ANSWERS=8
      fi
      builtin printf 'pid %s\n' "$BASHPID" >&7
      ((${#__mcpc_texts[@]} > 4)) || exit 0
      export MCPC_CALL=${__mcpc_texts[1]} MCPC_NOTES=7
      for ((__mcpc_index = 5; __mcpc_index < ${#__mcpc_texts[@]}; __mcpc_index += 3)); do
        declare -n __mcpc_name=${__mcpc_texts[__mcpc_index]}
        if [[ ${__mcpc_texts[__mcpc_index + 1]} == [=+] ]]; then
          __mcpc_name=${__mcpc_texts[__mcpc_index + 2]}
          if [[ ${__mcpc_texts[__mcpc_index + 1]} == + ]]; then export "${__mcpc_texts[__mcpc_index]}"; fi
        else
          __mcpc_name=("${__mcpc_texts[@]:__mcpc_index + 2:__mcpc_texts[__mcpc_index + 1]}")
          ((__mcpc_index += __mcpc_texts[__mcpc_index + 1] - 1)) || :
        fi
        unset -n __mcpc_name
      done
      # A large argument takes time whenever it is named: this is once, and `"$2"` the cheapest way to say it again.
      set -- "${__mcpc_texts[2]}" "${__mcpc_texts[3]}" "${__mcpc_texts[4]#t}"
      if ! declare -F -- "$1" >/dev/null; then
        builtin printf '%s: there is no function "%s"\n' "${0##*/}" "$1" >&2
        builtin printf '\nend 127\n' >&7
        exit 0
      fi
      if [[ $3 == f ]]; then __mcpc_options=${__mcpc_options//e/}; fi
      if [[ ${__mcpc_texts[4]} == t* || -n $__mcpc_traps ]]; then
        exec 13>&2 2>/dev/null
        (
          exec 2>&13 13>&-
          eval "$__mcpc_traps"
          if [[ $__mcpc_options == *[evx]* ]]; then set "-${__mcpc_options//[!evx]/}"; fi
          unset __mcpc_from __mcpc_index __mcpc_options __mcpc_texts __mcpc_traps
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
      if [[ $__mcpc_options == *[evx]* ]]; then set "-${__mcpc_options//[!evx]/}"; fi
      unset __mcpc_from __mcpc_index __mcpc_options __mcpc_texts __mcpc_traps
      # Behind `||` errexit does not hold, as mcbox calls its tools.
      if [[ -n $3 ]]; then "$1" "$2"; else "$1" "$2" || exit; fi
      exit
    ) &
    builtin disown
  done
}
