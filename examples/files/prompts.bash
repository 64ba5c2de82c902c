#!/usr/bin/env bash
# The functions behind prompts.json: prompt_NAME prints an object with `messages`; in a function's name `-` is `_`.

prompt_code_review() {
  jq -cn '{messages: [{role: "user", content: {type: "text", text:
    "Review this code. Name what is wrong first, then what is unclear, each with its line; praise nothing."}}]}'
}

prompt_summarize_file() {
  jq -c '{messages: [{role: "user", content: {type: "text", text:
    "Find out how large \(.path) is, read it, and summarize it in three sentences."}}]}' <<<"$1"
}
