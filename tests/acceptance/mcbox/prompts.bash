#!/usr/bin/env bash

prompt_greet() {
  jq -c '{messages: [{role: "user", content: {type: "text", text: "Hello \(.name)"}}]}' <<<"$1"
}

prompt_read_file() {
  printf '{"messages":[{"role":"user","content":{"type":"text","text":"called prompt_read_file"}}]}'
}

prompt_code_review() {
  printf '{"description":"A review","messages":[{"role":"user","content":{"type":"text","text":"Review this."}}]}'
}

prompt_broken() { echo 'no messages'; }

prompt_failing() {
  echo "why" >&2
  return 2
}
