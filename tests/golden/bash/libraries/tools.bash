#!/usr/bin/env bash
# Tools for a project's files.
set -u
readonly LIMIT=$((1<<20))
declare -A KINDS=(
  [sh]="shell script"   # it's a script
  [py]='python (3)'
)

log() { printf '%s\n' "$*" >&2; }

function usage {
  cat <<-EOF
	Usage: ${0##*/} [options] (see "help")
	  tool() { not a function }
	EOF
}

tool_list-files() {
  local args=$1 path
  path=$(jq -r '.path // "."' <<<"$args") || return
  find "$path" -maxdepth 1 -printf '%f\n' | while IFS= read -r name; do
    case "${name##*.}" in
      sh|bash) echo "${KINDS[sh]}: $name" ;;
      (py) echo "${KINDS[py]}: $name" ;;
      *) [[ $name =~ ^[A-Z]+(\.md|\.txt)$ ]] && echo "text: $name" ;;
    esac
  done
}
tool_size() ( cd "$1" && stat -c %s ./* )
export -f tool_list-files tool_size
