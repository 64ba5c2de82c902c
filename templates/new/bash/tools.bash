#!/usr/bin/env bash
# The functions behind tools.json: tool_NAME gets its arguments as one JSON text.

tool_greet() {
  local name
  name=$(jq -r '.name' <<<"$1")
  printf 'Hello, %s!\n' "$name"
}

tool_disk_free() {
  local path
  path=$(jq -r '.path' <<<"$1")
  df -h -- "$path"
}
