
if [[ ${BASH_VERSINFO[0]} -ge 4 ]]; then
  lower() { echo "${1,,}"; }
else
  lower() { tr '[:upper:]' '[:lower:]' <<<"$1"; }
fi
case $(uname -s) in
  Linux|*BSD) open_file() { echo "open '$1'"; } ;;
  *) open_file() { echo "${1@Q}"; } ;;
esac
command -v printf >/dev/null && { shout() { echo "${1^^}!"; }; }
declare -fx lower
