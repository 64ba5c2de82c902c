# What `bash --norc --noprofile -c` runs to call one function of a library:
#
#   $0  the name of the library's file, for messages
#   $1  the function to call
#   fd 3  texts that each end with a null byte: the libraries in the order to read them, then the function's argument
#
# Its law: the function finds a shell in which the library has been read as `source` reads it, and of this text not a
# variable and not a file descriptor.  Status: the function's own; 127 no such function; 126 the call could not be made.
# A regular file as fd 3 is read at once; from a pipe Bash reads byte by byte, which is slow above a few hundred KiB.
# shellcheck shell=bash

if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
  printf '%s: Bash %s is too old; 4.4 or newer is needed\n' "${0##*/}" "$BASH_VERSION" >&2
  exit 126
fi

if ! mapfile -d '' -t -u 3 __mcpc_texts || ((${#__mcpc_texts[@]} < 2)); then
  printf '%s: the library and its argument did not arrive\n' "${0##*/}" >&2
  exit 126
fi
exec 3<&-

# The function's name and argument wait where the library cannot see or shift them.
__mcpc_call=("${1-}" "${__mcpc_texts[-1]}")
unset '__mcpc_texts[-1]'
set --

# Says so if the library ends the shell; once it has been read, `__mcpc_texts` is gone and this says nothing.
trap '[[ -z ${__mcpc_texts+x} ]] ||
  printf "%s: reading the library ended with status %s\n" "${0##*/}" "$?" >&2' EXIT
set -o errexit -o nounset -o pipefail

# `source`, so that a `return` between the functions works; of a here-string, so that nothing is written or forked.
for __mcpc_texts in "${__mcpc_texts[@]}"; do :; done
