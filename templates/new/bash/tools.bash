#!/usr/bin/env bash
# The functions for tools.json: tool_NAME receives the argument `name` in $mcpc_arg_name, and all arguments as JSON in $1.
# shellcheck disable=SC2154  # the variables of a call are set by the server

tool_greet() {
  case ${mcpc_arg_language-en} in
    fr) printf 'Bonjour, %s!\n' "$mcpc_arg_name" ;;
    de) printf 'Guten Tag, %s!\n' "$mcpc_arg_name" ;;
    *) printf 'Hello, %s!\n' "$mcpc_arg_name" ;;
  esac
}

tool_disk_free() {
  df -h -- "$mcpc_arg_path"
}
