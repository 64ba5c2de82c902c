# shellcheck shell=bash
# What `bash --norc --noprofile -c` runs where no fork server runs a script: it prepares its process and becomes it.
#
#   $0    a name, for messages
#   $1    the script
#   fd 4  where errors go, if it is open
#   fd 3  texts that each end with a null byte: the SDK's folder, the folder to run in, and a variable
#         each as NAME=VALUE
#
# Rule: the script is a separate process with its own variables, and only three open files.
if { true >&4; } 2>/dev/null; then exec 2>&4 4>&-; fi
if ! mapfile -d '' -t -u 3 texts || ((${#texts[@]} < 2)); then
  printf '%s: the folder did not arrive\n' "${0##*/}" >&2
  exit 126
fi
exec 3<&- 7>&-
if ((${#texts[@]} > 2)); then export "${texts[@]:2}"; fi
cd -P -- "${texts[1]}" || exit 126
unset OLDPWD MCPC_NOTES
if [[ -x $1 ]]; then exec -- "$1"; fi
exec bash -- "$1"
