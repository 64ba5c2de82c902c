#!/usr/bin/env bash
# The functions behind tools.json and tools.d/asks.json.  tool_NAME finds each argument of the call in a variable, as
# $mcpc_arg_label, and prints its answer; a status other than 0 makes the call an error that the model reads.
#
# A tool that declares `asks` is called when its client has answered them: the answers are in $mcpc_answers, as JSON.
# shellcheck disable=SC2154  # the variables of a call are set by whoever calls

tool_test_simple_text() {
  echo 'This is a simple text response for testing.'
}

tool_test_error_handling() {
  echo 'This tool intentionally returns an error for testing'
  return 1
}

tool_test_tool_with_progress() {
  local step
  for step in 0 50 100; do
    mcpc_progress "$step" 100 "completed step $step of 100"
    sleep 0.05
  done
  echo 'all steps are completed'
}

tool_test_tool_with_logging() {
  mcpc_log info 'Tool execution started'
  sleep 0.05
  mcpc_log info 'Tool processing data'
  sleep 0.05
  mcpc_log info 'Tool execution completed'
  echo 'three messages were logged'
}

tool_test_logging_tool() {
  mcpc_log info 'somebody wanted to hear this'
  echo 'one message was logged'
}

tool_json_schema_2020_12_tool() {
  echo "contact ${mcpc_arg_name:-without a name} by ${mcpc_arg_phone:-${mcpc_arg_email:-no address}}"
}

tool_test_x_mcp_header() {
  echo "looking in $mcpc_arg_region"
}

tool_test_trigger_tool_change() {
  mcpc_changed tools
  echo 'clients that listen were told'
}

tool_test_trigger_prompt_change() {
  mcpc_changed prompts
  echo 'clients that listen were told'
}

tool_slow_compute() {
  sleep "$mcpc_arg_seconds"
  echo "${mcpc_arg_label:-the result} took $mcpc_arg_seconds seconds"
}

tool_show_clock() {
  date +%H:%M
}

# Print a member of an answer's content: answered KEY MEMBER [WHAT IF THERE IS NONE]
answered() {
  jq -r --arg key "$1" --arg member "$2" --arg none "${3:-nothing}" \
    '.[$key].content[$member] // $none' <<<"$mcpc_answers"
}

tool_test_input_required_result_elicitation() {
  echo "Hello, $(answered user_name name stranger)!"
}

tool_test_input_required_result_sampling() {
  jq -r '.capital_question.content | if type == "array" then .[0] else . end | .text' <<<"$mcpc_answers"
}

tool_test_input_required_result_list_roots() {
  jq -r '"the client has \(.client_roots.roots | length) roots: \([.client_roots.roots[].uri] | join(", "))"' \
    <<<"$mcpc_answers"
}

tool_test_input_required_result_request_state() {
  echo "state-ok: confirmed $(answered confirm ok)"
}

tool_test_input_required_result_tampered_state() {
  echo "integrity-ok: confirmed $(answered confirm ok)"
}

tool_test_input_required_result_multiple_inputs() {
  jq -r '"\(.user_name.content.name // "somebody") heard \(.greeting.content | if type == "array" then .[0] else . end |
    .text | tojson) about \(.client_roots.roots | length) roots"' <<<"$mcpc_answers"
}

tool_test_missing_capability() {
  jq -r '.question.content | if type == "array" then .[0] else . end | .text' <<<"$mcpc_answers"
}

tool_test_tool_with_task() {
  sleep 0.2
  echo "the task was done for $(answered user_name name somebody)"
}
