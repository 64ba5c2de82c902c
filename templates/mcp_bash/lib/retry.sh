# shellcheck shell=bash
# A command that is tried again.
#
# Rule: statuses 1 and 2 are final, because the command was wrong; others may be temporary.

# mcp_with_retry ATTEMPTS SECONDS [--] COMMAND…: waits SECONDS and up to half as long again, then twice as long, and so on.
mcp_with_retry() {
  local __mcpc_attempts=$1 __mcpc_delay=$2 __mcpc_attempt=1 __mcpc_status __mcpc_micros __mcpc_pause
  local __mcpc_decimal='^([0-9]*)(\.([0-9]*))?$'
  shift 2
  if [[ ${1-} == -- ]]; then shift; fi
  if [[ -z $__mcpc_attempts || $__mcpc_attempts == *[!0-9]* ]]; then
    __mcpc_complain 'mcp_with_retry: the number of attempts is not a whole number'
    return 1
  fi
  if [[ ! $__mcpc_delay =~ $__mcpc_decimal || $__mcpc_delay != *[0-9]* ]]; then
    __mcpc_complain 'mcp_with_retry: the seconds to wait are not a number'
    return 1
  fi
  __mcpc_pause=${BASH_REMATCH[3]}000000
  __mcpc_micros=$((10#0${BASH_REMATCH[1]} * 1000000 + 10#${__mcpc_pause:0:6}))
  while true; do
    __mcpc_status=0
    "$@" || __mcpc_status=$?
    if ((__mcpc_status <= 2 || __mcpc_attempt >= __mcpc_attempts)); then return "$__mcpc_status"; fi
    __mcpc_pause=$((__mcpc_micros + __mcpc_micros * (RANDOM % 1000) / 2000))
    printf -v __mcpc_pause '%d.%06d' $((__mcpc_pause / 1000000)) $((__mcpc_pause % 1000000))
    mcp_log_debug retry \
      "Attempt $__mcpc_attempt of $__mcpc_attempts ended with status $__mcpc_status; the next is in $__mcpc_pause s"
    sleep "$__mcpc_pause"
    __mcpc_attempt=$((__mcpc_attempt + 1)) __mcpc_micros=$((__mcpc_micros * 2))
  done
}
