# shellcheck shell=bash
# A command that is tried again.
#
# Its law: statuses 1 and 2 are final, for they say that the command was wrong; the others may pass.

# mcp_with_retry ATTEMPTS SECONDS [--] COMMAND…: waits SECONDS and up to half as long again, then twice as long, and so on.
mcp_with_retry() {
  local attempts=$1 delay=$2 attempt=1 status micros pause
  local number='^([0-9]*)(\.([0-9]*))?$'
  shift 2
  if [[ ${1-} == -- ]]; then shift; fi
  if [[ -z $attempts || $attempts == *[!0-9]* ]]; then
    __mcpc_complain 'mcp_with_retry: the number of attempts is not a whole number'
    return 1
  fi
  if [[ ! $delay =~ $number || $delay != *[0-9]* ]]; then
    __mcpc_complain 'mcp_with_retry: the seconds to wait are not a number'
    return 1
  fi
  pause=${BASH_REMATCH[3]}000000
  micros=$((10#0${BASH_REMATCH[1]} * 1000000 + 10#${pause:0:6}))
  while true; do
    status=0
    "$@" || status=$?
    if ((status <= 2 || attempt >= attempts)); then return "$status"; fi
    pause=$((micros + micros * (RANDOM % 1000) / 2000))
    printf -v pause '%d.%06d' $((pause / 1000000)) $((pause % 1000000))
    mcp_log_debug retry "Attempt $attempt of $attempts ended with status $status; the next is in $pause s"
    sleep "$pause"
    attempt=$((attempt + 1)) micros=$((micros * 2))
  done
}
