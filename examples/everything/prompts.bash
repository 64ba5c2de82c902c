#!/usr/bin/env bash
# The functions behind prompts.json: prompt_NAME gets the arguments as JSON and prints an object with `messages`.

prompt_test_simple_prompt() {
  jq -cn '{messages: [{role: "user", content: {type: "text", text: "This is a simple prompt for testing."}}]}'
}

prompt_test_prompt_with_arguments() {
  jq -c --arg q "'" '{messages: [{role: "user", content: {type: "text",
    text: "Prompt with arguments: arg1=\($q)\(.arg1)\($q), arg2=\($q)\(.arg2)\($q)"}}]}' <<<"$1"
}

prompt_test_prompt_with_embedded_resource() {
  jq -c '{messages: [
    {role: "user", content: {type: "resource", resource: {
      uri: .resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing."}}},
    {role: "user", content: {type: "text", text: "Please process the embedded resource above."}}
  ]}' <<<"$1"
}
