#!/usr/bin/env bash
# The functions behind tools.json: tool_NAME gets a call's arguments as one JSON text and prints its answer, which is
# JSON because both tools have an outputSchema.  A status other than 0 makes the call an error that the model reads.
#
# `is_readable_file` and `log_error` are there without being defined here; so are the other functions of mcbox.

# Print the path in a call's arguments, if a file that can be read is there.
path_of() {
  local path
  path=$(jq -r '.path' <<<"$1")
  if ! is_readable_file "$path"; then
    log_error "there is no readable file at $path"
    return 1
  fi
  printf '%s' "$path"
}

tool_file_size() {
  local path size
  path=$(path_of "$1") || return
  size=$(wc -c <"$path") || return
  jq -cn --arg path "$path" --argjson size "$size" '{$path, $size}'
}

tool_file_hash() {
  local path algorithm hash
  path=$(path_of "$1") || return
  algorithm=$(jq -r '.algorithm // "sha256"' <<<"$1")
  hash=$("${algorithm}sum" <"$path") || return
  jq -cn --arg path "$path" --arg hash "${hash%% *}" --arg algorithm "$algorithm" '{$path, $hash, $algorithm}'
}
