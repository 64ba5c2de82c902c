helper() { echo "$MCBOX_TOOLS_CONFIG"; }
tool_all_there_is() { mcpc_progress 1 2; helper "$mcpc_arg_path"; mcpc_changed tools; }
tool_plain() { trap 'true' EXIT; mcpc_call unchecked '{}'; }
tool_unchecked() { curl example.com | sed s/a/b/; }
tool_point() { echo "$1"; }
export -f tool_all_there_is tool_plain tool_unchecked tool_point
