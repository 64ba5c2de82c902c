# shellcheck shell=bash disable=SC2154 # The variables are of tool-sdk.sh and its parts.
# A command whose own progress is passed on while it runs.
#
# Its law: every line is looked at once and as it comes, the command's output and status are its own, and a cancelled
# tool takes its command along (status 130).

# mcp_run_with_progress --pattern REGEX [OPTION…] [--] COMMAND…
#   --extract json|match1|ratio   where in a line the progress is: .progress and .message of JSON; the first group, a
#                                 percentage, or a part of --total N; the first group out of the second
#   --progress-file FILE          the lines come in a file, and not from standard error
#   --stdout FILE, --stderr-file FILE   where the output goes, and lines that are no progress
#   --interval SECONDS, --dry-run (says it on standard error), --quiet
mcp_run_with_progress() {
  local pattern='' extract=json interval=0.2 output='' total='' source='' rest='' dry='' quiet='' problem=''
  while (($#)); do
    case $1 in
      --dry-run) dry=1 ;;
      --quiet) quiet=1 ;;
      --pattern) pattern=${2-} ;;
      --extract) extract=${2-} ;;
      --interval) interval=${2-} ;;
      --stdout) output=${2-} ;;
      --stderr-file) rest=${2-} ;;
      --progress-file) source=${2-} ;;
      --total) total=${2-} ;;
      *) break ;;
    esac
    case $1 in
      --dry-run | --quiet) shift ;;
      *) shift 2 || shift $# ;;
    esac
  done
  if [[ ${1-} == -- ]]; then shift; fi
  __mcpc_progress_problem
  if [[ $problem || $# == 0 ]]; then
    __mcpc_complain "mcp_run_with_progress: ${problem:-there is no command}"
    return 1
  fi
  __mcpc_run "$@"
}

# __mcpc_progress_problem: sets $problem of the caller to what is wrong with the options.
__mcpc_progress_problem() {
  if [[ -z $pattern ]]; then
    problem='--pattern is required'
  elif [[ $extract != @(json|match1|ratio) ]]; then
    problem="--extract knows no \"$extract\""
  elif [[ $total && ! $total =~ ^0*[1-9][0-9]{0,17}$ ]]; then
    problem='--total must be positive integer'
  elif [[ ! $interval =~ ^([0-9]+\.?[0-9]*|\.[0-9]+)$ || $interval != *[1-9]* ]]; then
    problem='--interval must be a positive number'
  fi
}

# __mcpc_run COMMAND…: with the options in variables of the caller.
__mcpc_run() {
  local - folder lines out pid status=0 line='' part
  set +e
  folder=$(mktemp -d "${TMPDIR:-/tmp}/mcp-progress.XXXXXX") || return 1
  if ! mkfifo "$folder/lines"; then
    rm -rf -- "$folder"
    return 1
  fi
  exec {lines}<>"$folder/lines"
  if [[ $source ]]; then
    if [[ -s $source ]]; then mcp_log_warn mcp_run_with_progress "what was in the progress file is gone: $source"; fi
    : >"$source"
    exec {__mcpc_followed}<"$source"
  fi
  rm -rf -- "$folder"
  if [[ $rest ]] && ! : 2>/dev/null >"$rest"; then
    mcp_log_warn mcp_run_with_progress "nothing can be written to $rest"
    rest=''
  fi
  if [[ $output ]]; then exec {out}>"$output"; else exec {out}>&1; fi
  # shellcheck disable=SC2261 # They are two.
  "$@" 1>&"$out" 2>&"$lines" &
  pid=$!
  exec {out}>&-
  while true; do
    kill -0 "$pid" 2>/dev/null || break
    if mcp_is_cancelled; then
      kill "$pid" 2>/dev/null
      wait "$pid" 2>/dev/null
      status=130
      break
    fi
    IFS= read -r -t "$interval" -u "$lines" part || {
      line+=$part
      __mcpc_follow
      continue
    }
    __mcpc_line "$line$part"
    line=''
  done
  if ((status == 0)); then
    wait "$pid" || status=$?
  fi
  while IFS= read -r -t 0.01 -u "$lines" part; do
    __mcpc_line "$line$part"
    line=''
  done
  if [[ $line$part ]]; then __mcpc_line "$line$part"; fi
  __mcpc_follow
  exec {lines}>&-
  if [[ $source ]]; then exec {__mcpc_followed}<&-; fi
  return "$status"
}

# __mcpc_follow: takes the lines that have come in the progress file.
__mcpc_follow() {
  local followed
  if [[ -z $source ]]; then return 0; fi
  while IFS= read -r -u "$__mcpc_followed" followed || [[ $followed ]]; do
    __mcpc_progress_line "$followed"
  done
}

# __mcpc_line LINE: takes a line of standard error, which is progress unless that comes in a file.
__mcpc_line() {
  if [[ -z $source ]]; then
    __mcpc_progress_line "$1"
  elif [[ -z $quiet ]]; then
    mcp_log_debug mcp_run_with_progress "subprocess stderr: $1"
  fi
}

__mcpc_progress_line() {
  local percent='' message=$1 __mcpc_out
  if [[ ! $1 =~ $pattern ]]; then
    if [[ $rest ]]; then printf '%s\n' "$1" 2>/dev/null >>"$rest" || :; fi
    if [[ -z $quiet ]]; then mcp_log_debug mcp_run_with_progress "subprocess output: $1"; fi
    return 0
  fi
  if ! __mcpc_percent "$1" "${BASH_REMATCH[1]-}" "${BASH_REMATCH[2]-}"; then
    # The command is alive, and an empty line says so to a timeout that waits for that.
    if [[ $MCP_PROGRESS_STREAM && -z $dry ]]; then printf '\n' 2>/dev/null >>"$MCP_PROGRESS_STREAM" || :; fi
    return 0
  fi
  if [[ $dry ]]; then
    __mcpc_string "$message"
    printf '{"progress":%s,"message":%s}\n' "$percent" "$__mcpc_out" >&2
  else
    mcp_progress "$percent" "$message"
  fi
}

# __mcpc_percent LINE FIRST SECOND: sets $percent and $message of the caller; 1 if there is no progress in the line.
__mcpc_percent() {
  local __mcpc_out __mcpc_at
  case $extract in
    json)
      __mcpc_read "$1" || (($? == 2)) || return 1
      [[ ${__mcpc_starts[0]-} ]] && __mcpc_path .progress && [[ $__mcpc_at ]] || return 1
      __mcpc_value "$__mcpc_at"
      percent=$__mcpc_out message=Working...
      __mcpc_path .message
      if [[ $__mcpc_at && ${__mcpc_tokens[__mcpc_at]} == \"* ]]; then
        __mcpc_value "$__mcpc_at"
        __mcpc_plain
        message=$__mcpc_out
      fi
      [[ $percent =~ ^\"?([0-9]+)(\.[0-9]+)?\"?$ ]] || return 1
      percent=${BASH_REMATCH[1]}
      ;;
    match1)
      [[ $2 =~ ^[0-9]{1,15}$ ]] || return 1
      percent=$((10#$2))
      if [[ $total ]]; then percent=$((percent * 100 / 10#$total)); fi
      ;;
    ratio)
      [[ $2 =~ ^[0-9]{1,15}$ && $3 =~ ^[0-9]{1,15}$ ]] && ((10#$3 > 0)) || return 1
      percent=$((10#$2 * 100 / 10#$3))
      ;;
  esac
}
