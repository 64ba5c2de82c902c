# shellcheck shell=bash
# The folders that the client lets tools work in.
#
# Its law: a path is inside if what it leads to lies below what a root leads to, letter by letter.

__mcpc_resolve() { __mcpc_load path && __mcpc_resolve "$@"; }

mcp_roots_contains() {
  local __mcpc_out path root
  __mcpc_resolve "$1"
  path=$__mcpc_out
  while IFS= read -r root; do
    if [[ -z $root ]]; then continue; fi
    __mcpc_resolve "$root"
    if [[ $__mcpc_out == / || "$path/" == "${__mcpc_out%/}/"* ]]; then return 0; fi
  done <<<"${MCP_ROOTS_PATHS-}"
  return 1
}

mcp_require_path() {
  local - name=${1-} single='' empty='' count=${MCP_ROOTS_COUNT:-0} path __mcpc_out
  set +x
  shift || :
  while (($#)); do
    case $1 in
      --default-to-single-root) single=1 ;;
      --allow-empty) empty=1 ;;
      *) break ;;
    esac
    shift
  done
  if [[ -z $name ]]; then mcp_fail_invalid_args 'mcp_require_path: the argument is not named'; fi
  __mcpc_argument "$name"
  path=$__mcpc_out
  if [[ -z $path && $single ]]; then
    if ((count != 1)); then
      mcp_fail_invalid_args "$name is required when zero or multiple roots are configured"
    fi
    path=${MCP_ROOTS_PATHS%%$'\n'*}
  fi
  if [[ -z $path ]]; then
    if [[ $empty ]]; then return 0; fi
    mcp_fail_invalid_args "$name is required"
  fi
  __mcpc_resolve "$path"
  path=$__mcpc_out
  if ((count > 0)) && ! mcp_roots_contains "$path"; then
    mcp_fail_invalid_args "$name is outside configured MCP roots"
  fi
  printf '%s' "$path"
}
