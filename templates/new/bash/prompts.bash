#!/usr/bin/env bash
# The functions for prompts.json: prompt_NAME prints an object with `messages`.
# shellcheck disable=SC2154  # the variables of a call are set by the server

prompt_introduce() {
  local text
  text=$(mcpc_json_string "Write a two-sentence introduction of $mcpc_arg_name.")
  printf '{"messages": [{"role": "user", "content": {"type": "text", "text": %s}}]}\n' "$text"
}
