# shellcheck shell=bash
# The folders that the client lets tools work in.
#
# Rule: a path is inside if what it leads to lies below what a root leads to, letter by letter.

__mcpc_resolve() { __mcpc_load path && __mcpc_resolve "$@"; }

mcp_roots_contains() {
  local __mcpc_out __mcpc_path __mcpc_root
  __mcpc_resolve "$1"
  __mcpc_path=$__mcpc_out
  while IFS= read -r __mcpc_root; do
    if [[ -z $__mcpc_root ]]; then continue; fi
    __mcpc_resolve "$__mcpc_root"
    if [[ $__mcpc_out == / || "$__mcpc_path/" == "${__mcpc_out%/}/"* ]]; then return 0; fi
  done <<<"${MCP_ROOTS_PATHS-}"
  return 1
}

mcp_require_path() {
  local - __mcpc_name=${1-} __mcpc_single='' __mcpc_empty='' __mcpc_roots=${MCP_ROOTS_COUNT:-0} __mcpc_path __mcpc_out
  set +x
  shift || :
  while (($#)); do
    case $1 in
      --default-to-single-root) __mcpc_single=1 ;;
      --allow-empty) __mcpc_empty=1 ;;
      *) break ;;
    esac
    shift
  done
  if [[ -z $__mcpc_name ]]; then mcp_fail_invalid_args 'mcp_require_path: the argument is not named'; fi
  __mcpc_argument "$__mcpc_name"
  __mcpc_path=$__mcpc_out
  if [[ -z $__mcpc_path && $__mcpc_single ]]; then
    if ((__mcpc_roots != 1)); then
      mcp_fail_invalid_args "$__mcpc_name is required when zero or multiple roots are configured"
    fi
    __mcpc_path=${MCP_ROOTS_PATHS%%$'\n'*}
  fi
  if [[ -z $__mcpc_path ]]; then
    if [[ $__mcpc_empty ]]; then return 0; fi
    mcp_fail_invalid_args "$__mcpc_name is required"
  fi
  __mcpc_resolve "$__mcpc_path"
  __mcpc_path=$__mcpc_out
  if ((__mcpc_roots > 0)) && ! mcp_roots_contains "$__mcpc_path"; then
    mcp_fail_invalid_args "$__mcpc_name is outside configured MCP roots"
  fi
  printf '%s' "$__mcpc_path"
}
