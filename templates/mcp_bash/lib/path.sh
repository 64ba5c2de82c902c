# shellcheck shell=bash disable=SC2154 # The variables are of tool-sdk.sh and its parts.
# Paths: absolute, without `.`, `..` and links.
#
# Its law: a path that goes over no link is worked out here, without a process; links are left to realpath or readlink,
# and where neither knows how, to the server's Python.  A path need not exist.

# __mcpc_collapse PATH: sets __mcpc_out to an absolute path, and __mcpc_linked to whether it goes over a link.
__mcpc_collapse() {
  local - rest=${1:-.} part
  set -f
  local -a parts=()
  __mcpc_linked=''
  if [[ $rest != /* ]]; then rest=$PWD/$rest; fi
  __mcpc_out=
  while [[ $rest ]]; do
    part=${rest%%/*}
    rest=${rest:${#part}}
    rest=${rest#/}
    case $part in
      '' | .) ;;
      ..) if ((${#parts[@]})); then unset "parts[${#parts[@]}-1]"; fi ;;
      *)
        parts+=("$part")
        printf -v __mcpc_out '/%s' "${parts[@]}"
        if [[ -L $__mcpc_out ]]; then __mcpc_linked=1; fi
        ;;
    esac
  done
  if ((${#parts[@]})); then printf -v __mcpc_out '/%s' "${parts[@]}"; else __mcpc_out=/; fi
}

# __mcpc_resolve PATH: sets __mcpc_out to the path that links lead to.
__mcpc_resolve() {
  local __mcpc_linked found path=${1:-.}
  __mcpc_collapse "$path"
  if [[ $__mcpc_linked ]]; then
    if [[ $path != /* ]]; then path=$PWD/$path; fi
    # A line end that a path ends with would be lost.
    found=$(realpath -m -- "$path" 2>/dev/null && printf x) ||
      found=$(__mcpc_python && "$__mcpc_python_found" -I -S -c \
        'import os, sys; sys.stdout.buffer.write(os.fsencode(os.path.realpath(sys.argv[1])) + b"\n")' "$path" && printf x) ||
      found=$(readlink -f -- "$path" 2>/dev/null && printf x) || return 0
    __mcpc_out=${found%$'\n'x}
  fi
}

mcp_path_collapse() {
  local __mcpc_out __mcpc_linked
  __mcpc_collapse "${1-}"
  printf '%s' "$__mcpc_out"
}

# mcp_path_normalize [--physical|--logical] [--] PATH: links are followed either way, as far as they are there.
mcp_path_normalize() {
  local __mcpc_out
  while (($#)); do
    case $1 in
      --physical | --logical) shift ;;
      --)
        shift
        break
        ;;
      *) break ;;
    esac
  done
  __mcpc_resolve "${1-}"
  if [[ ${MCP_PATH_DEBUG-} == 1 ]]; then __mcpc_complain "mcp_path_normalize: ${1-} -> $__mcpc_out"; fi
  printf '%s' "$__mcpc_out"
}
