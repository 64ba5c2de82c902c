tool_twice() { echo "$mcpc_arg_größe $mcpc_arg_unknown $mcpc_arg_a_c"; }
tool_a_b() { :; }
tool_mising() { :; }
tool_both() { :; }
tool_options() { :; }
tool_refers() { :; }
tool_not_async() { :; }
tool_stray() { :; }
export -f tool_twice tool_a_b tool_stray
