#!/usr/bin/env bash
# Completes the tone: the words that begin with what was typed.

[[ $MCP_COMPLETION_ARGS_JSON =~ \"argument\":\{\"name\":\"tone\",\"value\":\"([a-z]*)\" ]] || {
  printf '[]'
  exit
}
found=()
for word in calm cheerful curt; do
  if [[ $word == "${BASH_REMATCH[1]}"* ]]; then found+=("\"$word\""); fi
done
IFS=,
printf '[%s]' "${found[*]}"
