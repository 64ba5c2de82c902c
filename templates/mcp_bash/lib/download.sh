# shellcheck shell=bash disable=SC2154 # The variables are of tool-sdk.sh and its parts.
# Files from the network, for tools that take a URL from whoever calls them.
#
# Its law: https only, hosts that are allowed only, public addresses only, no redirects: lib/python/download.py sees to it.

# __mcpc_no_download TYPE MESSAGE
__mcpc_no_download() {
  local __mcpc_out
  __mcpc_string "$2"
  printf '{"success":false,"error":{"type":"%s","message":%s}}' "$1" "$__mcpc_out"
}

# mcp_download_safe --url URL --out FILE [--allow HOST]… [--deny HOST]… [--max-bytes N] [--timeout SECONDS]
#   [--user-agent TEXT] [--retry ATTEMPTS] [--retry-delay SECONDS]
mcp_download_safe() {
  local url='' out='' allow='' deny='' most=10485760 seconds=15 agent='' attempts=1 delay=1.0 problem=''
  while (($#)); do
    case $1 in
      --url) url=${2-} ;;
      --out) out=${2-} ;;
      --allow) allow+=${allow:+,}${2-} ;;
      --deny) deny+=${deny:+,}${2-} ;;
      --max-bytes) most=${2-} ;;
      --timeout) seconds=${2-} ;;
      --user-agent) agent=${2-} ;;
      --retry) attempts=${2-} ;;
      --retry-delay) delay=${2-} ;;
      *)
        __mcpc_no_download invalid_params "There is no option $1"
        return 0
        ;;
    esac
    shift 2 || shift $#
  done
  __mcpc_download_problem
  if [[ $problem ]]; then
    __mcpc_no_download "${problem%%:*}" "${problem#*:}"
  elif __mcpc_python; then
    agent=${agent:-mcpbash/${MCPBASH_FRAMEWORK_VERSION:-unknown} (tool-sdk)}
    __mcpc_in_python download "$url" "$out" "$allow" "$deny" "$most" "$seconds" "$agent" "$attempts" "$delay"
  else
    __mcpc_no_download provider_unavailable 'there is no Python to fetch it'
  fi
}

# __mcpc_download_problem: sets $problem of the caller to what is wrong with the options, a type and a message.
__mcpc_download_problem() {
  local whole='^[0-9]{1,9}$' number='^([0-9]+\.?[0-9]*|\.[0-9]+)$'
  if [[ -z $url ]]; then
    problem='invalid_url:--url is required'
  elif [[ -z $out ]]; then
    problem='invalid_params:--out is required'
  elif [[ $url != https://* ]]; then
    problem='invalid_url:URL must use https://'
  elif [[ ! $most =~ $whole ]]; then
    problem='invalid_params:--max-bytes must be a positive integer'
  elif [[ ! $seconds =~ $whole ]] || ((10#$seconds < 1)); then
    problem='invalid_params:--timeout must be a positive integer'
  elif ((10#$seconds > 60)); then
    problem='invalid_params:--timeout cannot exceed 60 seconds'
  elif [[ ! $attempts =~ $whole ]] || ((10#$attempts < 1)); then
    problem='invalid_params:--retry must be a positive integer'
  elif [[ ! $delay =~ $number ]]; then
    problem='invalid_params:--retry-delay must be a number'
  fi
}

# mcp_download_safe_or_fail OPTION…: prints the path of what was fetched, or ends the tool.
mcp_download_safe_or_fail() {
  local __mcpc_out __mcpc_at type message
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
  type=$__mcpc_out
  __mcpc_path .error.message
  __mcpc_value "$__mcpc_at"
  __mcpc_plain
  message=$__mcpc_out
  mcp_fail_invalid_args "Download failed ($type): $message"
}
