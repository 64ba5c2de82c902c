# shellcheck shell=bash disable=SC2154 # The variables are of tool-sdk.sh and its parts.
# Files from the network, for tools that take a URL from their caller.
#
# Rule: https only, hosts that are allowed only, public addresses only, no redirects: lib/python/download.py sees to it.

# __mcpc_no_download TYPE MESSAGE
__mcpc_no_download() {
  local __mcpc_out
  __mcpc_string "$2"
  printf '{"success":false,"error":{"type":"%s","message":%s}}' "$1" "$__mcpc_out"
}

# mcp_download_safe --url URL --out FILE [--allow HOST]… [--deny HOST]… [--max-bytes N] [--timeout SECONDS]
#   [--user-agent TEXT] [--retry ATTEMPTS] [--retry-delay SECONDS]
mcp_download_safe() {
  local __mcpc_url='' __mcpc_target='' __mcpc_allow='' __mcpc_deny='' __mcpc_limit=10485760 __mcpc_seconds=15
  local __mcpc_agent='' __mcpc_attempts=1 __mcpc_delay=1.0 __mcpc_problem=''
  while (($#)); do
    case $1 in
      --url) __mcpc_url=${2-} ;;
      --out) __mcpc_target=${2-} ;;
      --allow) __mcpc_allow+=${__mcpc_allow:+,}${2-} ;;
      --deny) __mcpc_deny+=${__mcpc_deny:+,}${2-} ;;
      --max-bytes) __mcpc_limit=${2-} ;;
      --timeout) __mcpc_seconds=${2-} ;;
      --user-agent) __mcpc_agent=${2-} ;;
      --retry) __mcpc_attempts=${2-} ;;
      --retry-delay) __mcpc_delay=${2-} ;;
      *)
        __mcpc_no_download invalid_params "There is no option $1"
        return 0
        ;;
    esac
    shift 2 || shift $#
  done
  __mcpc_download_problem
  if [[ $__mcpc_problem ]]; then
    __mcpc_no_download "${__mcpc_problem%%:*}" "${__mcpc_problem#*:}"
  elif __mcpc_python; then
    __mcpc_agent=${__mcpc_agent:-mcpbash/${MCPBASH_FRAMEWORK_VERSION:-unknown} (tool-sdk)}
    __mcpc_in_python download "$__mcpc_url" "$__mcpc_target" "$__mcpc_allow" "$__mcpc_deny" \
      "$__mcpc_limit" "$__mcpc_seconds" "$__mcpc_agent" "$__mcpc_attempts" "$__mcpc_delay"
  else
    __mcpc_no_download provider_unavailable 'there is no Python to fetch it'
  fi
}

# __mcpc_download_problem: sets $__mcpc_problem of the caller to what is wrong with the options, a type and a message.
__mcpc_download_problem() {
  local __mcpc_whole='^[0-9]{1,9}$' __mcpc_decimal='^([0-9]+\.?[0-9]*|\.[0-9]+)$'
  if [[ -z $__mcpc_url ]]; then
    __mcpc_problem='invalid_url:--url is required'
  elif [[ -z $__mcpc_target ]]; then
    __mcpc_problem='invalid_params:--out is required'
  elif [[ $__mcpc_url != https://* ]]; then
    __mcpc_problem='invalid_url:URL must use https://'
  elif [[ ! $__mcpc_limit =~ $__mcpc_whole ]]; then
    __mcpc_problem='invalid_params:--max-bytes must be a positive integer'
  elif [[ ! $__mcpc_seconds =~ $__mcpc_whole ]] || ((10#$__mcpc_seconds < 1)); then
    __mcpc_problem='invalid_params:--timeout must be a positive integer'
  elif ((10#$__mcpc_seconds > 60)); then
    __mcpc_problem='invalid_params:--timeout cannot exceed 60 seconds'
  elif [[ ! $__mcpc_attempts =~ $__mcpc_whole ]] || ((10#$__mcpc_attempts < 1)); then
    __mcpc_problem='invalid_params:--retry must be a positive integer'
  elif [[ ! $__mcpc_delay =~ $__mcpc_decimal ]]; then
    __mcpc_problem='invalid_params:--retry-delay must be a number'
  fi
}

# mcp_download_safe_or_fail OPTION…: prints the path of what was fetched, or ends the tool.
mcp_download_safe_or_fail() {
  local __mcpc_out __mcpc_at __mcpc_type __mcpc_message
  __mcpc_out=$(mcp_download_safe "$@")
  __mcpc_read "$__mcpc_out" || :
  if [[ $__mcpc_out == '{"success":true,'* ]]; then
    __mcpc_path .path
    __mcpc_value "$__mcpc_at"
    __mcpc_plain
    printf '%s' "$__mcpc_out"
    return 0
  fi
  __mcpc_path .error.type
  __mcpc_value "$__mcpc_at"
  __mcpc_plain
  __mcpc_type=$__mcpc_out
  __mcpc_path .error.message
  __mcpc_value "$__mcpc_at"
  __mcpc_plain
  __mcpc_message=$__mcpc_out
  mcp_fail_invalid_args "Download failed ($__mcpc_type): $__mcpc_message"
}
