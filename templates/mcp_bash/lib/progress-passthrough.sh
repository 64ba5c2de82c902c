# shellcheck shell=bash disable=SC2154 # The variables are of tool-sdk.sh and its parts.
# A command whose own progress is passed on while it runs.
#
# Rule: every line is looked at once and as it comes, the command's output and status are its own, and a cancelled
# tool takes its command along (status 130).

# mcp_run_with_progress --pattern REGEX [OPTION…] [--] COMMAND…
#   --extract json|match1|ratio   where in a line the progress is: .progress and .message of JSON; the first group, a
#                                 percentage, or a part of --total N; the first group out of the second
#   --progress-file FILE          the lines come in a file, and not from standard error
#   --stdout FILE, --stderr-file FILE   where the output goes, and lines that are no progress
#   --interval SECONDS, --dry-run (says it on standard error), --quiet
mcp_run_with_progress() {
  local __mcpc_pattern='' __mcpc_extract=json __mcpc_interval=0.2 __mcpc_output='' __mcpc_total='' __mcpc_source=''
  local __mcpc_rest='' __mcpc_dry='' __mcpc_quiet='' __mcpc_problem=''
  while (($#)); do
    case $1 in
      --dry-run) __mcpc_dry=1 ;;
      --quiet) __mcpc_quiet=1 ;;
      --pattern) __mcpc_pattern=${2-} ;;
      --extract) __mcpc_extract=${2-} ;;
      --interval) __mcpc_interval=${2-} ;;
      --stdout) __mcpc_output=${2-} ;;
      --stderr-file) __mcpc_rest=${2-} ;;
      --progress-file) __mcpc_source=${2-} ;;
      --total) __mcpc_total=${2-} ;;
      *) break ;;
    esac
    case $1 in
      --dry-run | --quiet) shift ;;
      *) shift 2 || shift $# ;;
    esac
  done
  if [[ ${1-} == -- ]]; then shift; fi
  __mcpc_progress_problem
  if [[ $__mcpc_problem || $# == 0 ]]; then
    __mcpc_complain "mcp_run_with_progress: ${__mcpc_problem:-there is no command}"
    return 1
  fi
  __mcpc_run "$@"
}

# __mcpc_progress_problem: sets $__mcpc_problem of the caller to what is wrong with the options.
__mcpc_progress_problem() {
  if [[ -z $__mcpc_pattern ]]; then
    __mcpc_problem='--pattern is required'
  elif [[ $__mcpc_extract != @(json|match1|ratio) ]]; then
    __mcpc_problem="--extract knows no \"$__mcpc_extract\""
  elif [[ $__mcpc_total && ! $__mcpc_total =~ ^0*[1-9][0-9]{0,17}$ ]]; then
    __mcpc_problem='--total must be positive integer'
  elif [[ ! $__mcpc_interval =~ ^([0-9]+\.?[0-9]*|\.[0-9]+)$ || $__mcpc_interval != *[1-9]* ]]; then
    __mcpc_problem='--interval must be a positive number'
  fi
}

# __mcpc_run COMMAND…: with the options in variables of the caller.
__mcpc_run() {
  local - __mcpc_folder __mcpc_lines __mcpc_descriptor __mcpc_pid __mcpc_status=0 __mcpc_line='' __mcpc_part
  set +e
  __mcpc_folder=$(mktemp -d "${TMPDIR:-/tmp}/mcp-progress.XXXXXX") || return 1
  if ! mkfifo "$__mcpc_folder/lines"; then
    rm -rf -- "$__mcpc_folder"
    return 1
  fi
  exec {__mcpc_lines}<>"$__mcpc_folder/lines"
  if [[ $__mcpc_source ]]; then
    if [[ -s $__mcpc_source ]]; then
      mcp_log_warn mcp_run_with_progress "what was in the progress file is gone: $__mcpc_source"
    fi
    : >"$__mcpc_source"
    exec {__mcpc_followed}<"$__mcpc_source"
  fi
  rm -rf -- "$__mcpc_folder"
  if [[ $__mcpc_rest ]] && ! : 2>/dev/null >"$__mcpc_rest"; then
    mcp_log_warn mcp_run_with_progress "nothing can be written to $__mcpc_rest"
    __mcpc_rest=''
  fi
  if [[ $__mcpc_output ]]; then exec {__mcpc_descriptor}>"$__mcpc_output"; else exec {__mcpc_descriptor}>&1; fi
  # shellcheck disable=SC2261 # They are two.
  "$@" 1>&"$__mcpc_descriptor" 2>&"$__mcpc_lines" &
  __mcpc_pid=$!
  exec {__mcpc_descriptor}>&-
  while true; do
    kill -0 "$__mcpc_pid" 2>/dev/null || break
    if mcp_is_cancelled; then
      kill "$__mcpc_pid" 2>/dev/null
      wait "$__mcpc_pid" 2>/dev/null
      __mcpc_status=130
      break
    fi
    IFS= read -r -t "$__mcpc_interval" -u "$__mcpc_lines" __mcpc_part || {
      __mcpc_line+=$__mcpc_part
      __mcpc_follow
      continue
    }
    __mcpc_line "$__mcpc_line$__mcpc_part"
    __mcpc_line=''
  done
  if ((__mcpc_status == 0)); then
    wait "$__mcpc_pid" || __mcpc_status=$?
  fi
  while IFS= read -r -t 0.01 -u "$__mcpc_lines" __mcpc_part; do
    __mcpc_line "$__mcpc_line$__mcpc_part"
    __mcpc_line=''
  done
  if [[ $__mcpc_line$__mcpc_part ]]; then __mcpc_line "$__mcpc_line$__mcpc_part"; fi
  __mcpc_follow
  exec {__mcpc_lines}>&-
  if [[ $__mcpc_source ]]; then exec {__mcpc_followed}<&-; fi
  return "$__mcpc_status"
}

# __mcpc_follow: takes the lines that have come in the progress file.
__mcpc_follow() {
  local __mcpc_news
  if [[ -z $__mcpc_source ]]; then return 0; fi
  while IFS= read -r -u "$__mcpc_followed" __mcpc_news || [[ $__mcpc_news ]]; do
    __mcpc_progress_line "$__mcpc_news"
  done
}

# __mcpc_line LINE: takes a line of standard error, which is progress unless that comes in a file.
__mcpc_line() {
  if [[ -z $__mcpc_source ]]; then
    __mcpc_progress_line "$1"
  elif [[ -z $__mcpc_quiet ]]; then
    mcp_log_debug mcp_run_with_progress "subprocess stderr: $1"
  fi
}

__mcpc_progress_line() {
  local __mcpc_percent='' __mcpc_message=$1 __mcpc_out
  if [[ ! $1 =~ $__mcpc_pattern ]]; then
    if [[ $__mcpc_rest ]]; then printf '%s\n' "$1" 2>/dev/null >>"$__mcpc_rest" || :; fi
    if [[ -z $__mcpc_quiet ]]; then mcp_log_debug mcp_run_with_progress "subprocess output: $1"; fi
    return 0
  fi
  if ! __mcpc_percent "$1" "${BASH_REMATCH[1]-}" "${BASH_REMATCH[2]-}"; then
    # The command is alive, and an empty line says so to a timeout that waits for that.
    if [[ $MCP_PROGRESS_STREAM && -z $__mcpc_dry ]]; then printf '\n' 2>/dev/null >>"$MCP_PROGRESS_STREAM" || :; fi
    return 0
  fi
  if [[ $__mcpc_dry ]]; then
    __mcpc_string "$__mcpc_message"
    printf '{"progress":%s,"message":%s}\n' "$__mcpc_percent" "$__mcpc_out" >&2
  else
    mcp_progress "$__mcpc_percent" "$__mcpc_message"
  fi
}

# __mcpc_percent LINE FIRST SECOND: sets $__mcpc_percent and $__mcpc_message of the caller; 1 if there is no progress in
# the line.
__mcpc_percent() {
  local __mcpc_out __mcpc_at
  case $__mcpc_extract in
    json)
      __mcpc_read "$1" || (($? == 2)) || return 1
      [[ ${__mcpc_starts[0]-} ]] && __mcpc_path .progress && [[ $__mcpc_at ]] || return 1
      __mcpc_value "$__mcpc_at"
      __mcpc_percent=$__mcpc_out __mcpc_message=Working...
      __mcpc_path .message
      if [[ $__mcpc_at && ${__mcpc_tokens[__mcpc_at]} == \"* ]]; then
        __mcpc_value "$__mcpc_at"
        __mcpc_plain
        __mcpc_message=$__mcpc_out
      fi
      [[ $__mcpc_percent =~ ^\"?([0-9]+)(\.[0-9]+)?\"?$ ]] || return 1
      __mcpc_percent=${BASH_REMATCH[1]}
      ;;
    match1)
      [[ $2 =~ ^[0-9]{1,15}$ ]] || return 1
      __mcpc_percent=$((10#$2))
      if [[ $__mcpc_total ]]; then __mcpc_percent=$((__mcpc_percent * 100 / 10#$__mcpc_total)); fi
      ;;
    ratio)
      [[ $2 =~ ^[0-9]{1,15}$ && $3 =~ ^[0-9]{1,15}$ ]] && ((10#$3 > 0)) || return 1
      __mcpc_percent=$((10#$2 * 100 / 10#$3))
      ;;
  esac
}
