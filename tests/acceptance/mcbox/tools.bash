#!/usr/bin/env bash

tool_smoketest() { echo "ok"; }

tool_smoketest_fail() { return 1; }

tool_echo_token() { jq -c '{token: .token}' <<<"$1"; }

tool_echo_token_fail() { echo '{"something":"else"}'; }

tool_file_size() {
  local path size
  path=$(jq -r '.path' <<<"$1")
  if ! is_readable_file "$path"; then
    log_error "file not accessible"
    return 1
  fi
  size=$(wc -c <"$path")
  jq -cn --arg path "$path" --argjson size "$size" '{path: $path, size: $size}'
}

tool_both_streams() {
  echo "partial out"
  echo "why it failed" >&2
  return 3
}

tool_spaces() { printf '  x  \n\n'; }

tool_fs_list() { echo "called tool_fs_list"; }

tool_arguments() { printf '%s' "$1"; }

tool_reads_input() { cat; echo "read"; }

tool_unset_variable() { echo "$no_such_variable"; }

tool_configuration() { printf '%s\n%s\n' "$MCBOX_SERVER_CONFIG" "${#MCBOX_TOOLS_CONFIG}"; }

export -f tool_smoketest tool_smoketest_fail tool_echo_token tool_echo_token_fail tool_file_size
