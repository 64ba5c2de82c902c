#!/usr/bin/env bash
# The functions behind prompts.json: prompt_NAME prints an object with `messages`.

prompt_introduce() {
  jq -c '{messages: [{role: "user", content: {type: "text",
          text: "Write a two-sentence introduction of \(.name)."}}]}' <<<"$1"
}
