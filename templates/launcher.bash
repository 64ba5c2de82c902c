# shellcheck shell=bash
# What `bash --norc --noprofile -c` runs to call one function of a library:
#
#   $0    the name of the library's file, for messages
#   $1    the function to call
#   fd 3  texts that each end with a null byte: the libraries in the order to read them, then the function's argument
#
# Its law: the function finds a shell that has read the library as `source` would, and of this text no variable and no
# open file.  Status: the function's own; 127 there is no such function; 126 the call could not be made.
# A regular file as fd 3 is read at once; from a pipe Bash reads byte by byte: 16 MiB take seconds instead of 0.1 s.

if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
  printf '%s: Bash %s is too old, 4.4 or newer is needed\n' "${0##*/}" "$BASH_VERSION" >&2
  exit 126
fi
if ! mapfile -d '' -t -u 3 __mcpc_texts || ((${#__mcpc_texts[@]} < 2)); then
  printf '%s: the library and the argument did not arrive\n' "${0##*/}" >&2
  exit 126
fi
exec 3<&-

# The function's name and argument wait where the library neither sees nor shifts them.
__mcpc_call=("${1-}" "${__mcpc_texts[-1]}")
unset '__mcpc_texts[-1]'
set --

# Once the library has been read `__mcpc_texts` is gone and this says nothing; to take it away could take the library's.
trap '[[ -z ${__mcpc_texts+x} ]] || printf "%s: reading the library ended with status %s\n" "${0##*/}" "$?" >&2' EXIT

# By `source`, for a `return` between the functions and for BASH_SOURCE; from a here-string, which needs no process.
set -o errexit -o nounset -o pipefail
for __mcpc_text in "${__mcpc_texts[@]}"; do
  # shellcheck disable=SC1091,SC2016
  source /dev/fd/9 9<<<'eval "$__mcpc_text"' >&2
done
unset __mcpc_text __mcpc_texts

if ! declare -F -- "${__mcpc_call[0]}" >/dev/null; then
  printf '%s: there is no function "%s"\n' "${0##*/}" "${__mcpc_call[0]}" >&2
  exit 127
fi
set -- "${__mcpc_call[@]}"
unset __mcpc_call
# Behind `||` errexit does not hold, as mcbox calls its tools.
"$1" "$2" || exit
