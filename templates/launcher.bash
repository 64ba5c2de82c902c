# shellcheck shell=bash
# What `bash --norc --noprofile -c` runs to call one function of a library:
#
#   $0    the name of the library's file, for messages
#   $1    the function to call
#   $2    how many texts follow the argument: variables, each a name, a count, and so many values (`=`: one, no array;
#         `+`: one that is exported)
#   $3    how many texts there are in all, if something else may follow them; 0 for all that come
#   $4    `e` if errexit holds in the function as the library left it, `f` if only where it is set in a function
#   fd 4  where errors go, if it is open: what Bash says before this text is read (of a locale that is not there) is
#         not the function's, and stays on the standard error it was started with
#   fd 3  texts that each end with a null byte: the libraries in the order to read them, then the function's argument
#   fd 7 and 8 are the function's: its notes, and answers of other tools
#
# Rule: the function finds a shell that has read the library as `source` would, and of this text no variable and no
# open file.  Status: the function's own; 127 there is no such function; 126 it could not be called.
# A regular file as fd 3 is read at once; from a pipe Bash reads byte by byte: 16 MiB take 3 s instead of 0.1 s.

if { true >&4; } 2>/dev/null; then exec 2>&4 4>&-; fi
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
  printf '%s: Bash %s is too old, 4.4 or newer is needed\n' "${0##*/}" "$BASH_VERSION" >&2
  exit 126
fi
if ! mapfile -d '' -t -n "${3-0}" -u 3 __mcpc_texts || ((${#__mcpc_texts[@]} < 2)); then
  printf '%s: the library and the argument did not arrive\n' "${0##*/}" >&2
  exit 126
fi
exec 3<&-
__mcpc_function=${1-} __mcpc_errexit=${4-}
__mcpc_argument=$((${#__mcpc_texts[@]} - 1 - ${2-0}))
set --

# It stays, for `trap - EXIT` might remove one of the library's; once `__mcpc_texts` is gone it does nothing.
trap 'if [[ -n ${__mcpc_texts+x} ]]; then
  printf "%s: the library ended the shell that read it\n" "${0##*/}" >&2
  exit 126
fi' EXIT
set -o errexit -o nounset -o pipefail
__mcpc_place=/dev/fd
for ((__mcpc_index = 0; __mcpc_index < __mcpc_argument; __mcpc_index++)); do
  # Bash begins its messages with the place that a text was read from: each text has a spelling of its own, which the
  # server replaces by the name of the library.  `source` lets the library `return` and gives it a BASH_SOURCE; a here-string needs no process.
  # shellcheck disable=SC1091,SC2016
  source "$__mcpc_place/9" 9<<<'eval "${__mcpc_texts[__mcpc_index]}"' >&2
  __mcpc_place+=/.
done

if ! declare -F -- "$__mcpc_function" >/dev/null; then
  printf '%s: there is no function "%s"\n' "${0##*/}" "$__mcpc_function" >&2
  unset __mcpc_texts
  exit 127
fi
set -- "$__mcpc_function" "${__mcpc_texts[__mcpc_argument]}" "$__mcpc_errexit"
for ((__mcpc_index = __mcpc_argument + 1; __mcpc_index < ${#__mcpc_texts[@]}; __mcpc_index += 3)); do
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
unset __mcpc_argument __mcpc_errexit __mcpc_function __mcpc_index __mcpc_place __mcpc_texts
if [[ $3 == f ]]; then set +o errexit; fi
# Behind `||` errexit does not hold, as mcbox calls its tools.
if [[ -n $3 ]]; then "$1" "$2"; else "$1" "$2" || exit; fi
