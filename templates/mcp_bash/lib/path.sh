# shellcheck shell=bash disable=SC2154 # The variables are of tool-sdk.sh and its parts.
# Paths: absolute, without `.`, `..` and links.
#
# Rule: a path that goes over no link is worked out here, without a process; links are left to realpath or readlink,
# and where neither knows how, to the server's Python.  A path need not exist.

# __mcpc_collapse PATH: sets __mcpc_out to an absolute path, and __mcpc_linked to whether it goes over a link.
__mcpc_collapse() {
  local - __mcpc_rest=${1:-.} __mcpc_part
  set -f
  local -a __mcpc_parts=()
  __mcpc_linked=''
  if [[ $__mcpc_rest != /* ]]; then __mcpc_rest=$PWD/$__mcpc_rest; fi
  __mcpc_out=
  while [[ $__mcpc_rest ]]; do
    __mcpc_part=${__mcpc_rest%%/*}
    __mcpc_rest=${__mcpc_rest:${#__mcpc_part}}
    __mcpc_rest=${__mcpc_rest#/}
    case $__mcpc_part in
      '' | .) ;;
      ..) if ((${#__mcpc_parts[@]})); then unset "__mcpc_parts[${#__mcpc_parts[@]}-1]"; fi ;;
      *)
        __mcpc_parts+=("$__mcpc_part")
        printf -v __mcpc_out '/%s' "${__mcpc_parts[@]}"
        if [[ -L $__mcpc_out ]]; then __mcpc_linked=1; fi
        ;;
    esac
  done
  if ((${#__mcpc_parts[@]})); then printf -v __mcpc_out '/%s' "${__mcpc_parts[@]}"; else __mcpc_out=/; fi
}

# __mcpc_resolve PATH: sets __mcpc_out to the path that links lead to.
__mcpc_resolve() {
  local __mcpc_linked __mcpc_real __mcpc_path=${1:-.}
  __mcpc_collapse "$__mcpc_path"
  if [[ $__mcpc_linked ]]; then
    if [[ $__mcpc_path != /* ]]; then __mcpc_path=$PWD/$__mcpc_path; fi
    # A line end that a path ends with would be lost.
    __mcpc_real=$(realpath -m -- "$__mcpc_path" 2>/dev/null && printf x) ||
      __mcpc_real=$(__mcpc_python && "$__mcpc_python_found" -I -S -c \
        'import os, sys; sys.stdout.buffer.write(os.fsencode(os.path.realpath(sys.argv[1])) + b"\n")' \
        "$__mcpc_path" && printf x) ||
      __mcpc_real=$(readlink -f -- "$__mcpc_path" 2>/dev/null && printf x) || return 0
    __mcpc_out=${__mcpc_real%$'\n'x}
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
