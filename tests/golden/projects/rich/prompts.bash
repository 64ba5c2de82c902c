prompt_review() { echo "$mcpc_arg_file $mcpc_arg_style"; }
prompt_bare() { echo hello; }
export -f prompt_review prompt_bare
