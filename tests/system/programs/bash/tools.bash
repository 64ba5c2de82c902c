source "$(dirname "${BASH_SOURCE[0]}")/lib/more.bash"
tool_shown() {
  printf '%s|' "$mcpc_arg_path" "$mcpc_arg_max_size" "${#mcpc_arg_list[@]}" "${mcpc_arg_list[@]}" "$mcpc_arg_nested" \
    "$mcpc_arg_flag" "<$mcpc_arg_none>" "${mcpc_arg_absent-unset}"
}
tool_digest() {
  local sum
  read -r sum _ < <(printf %s "$1" | sha256sum)
  printf '%s %s' "$sum" "${#mcpc_arg_text}"
}
tool_says() {
  mcpc_log warning "one" "two"
  mcpc_progress 1 2 "half"
  sleep 0.2
  mcpc_progress 2 2
  echo said
}
tool_calls() {
  local status=0
  mcpc_call "$mcpc_arg_tool" '{}' || status=$?
  echo "status $status"
}
tool_alone() { more; }
tool_place() { "$(dirname "${BASH_SOURCE[0]}")/bin/helper" "$MORE"; }
tool_loops() { mcpc_call loops '{}'; }
