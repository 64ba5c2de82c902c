#!/usr/bin/env bash
given() { # arguments name: the value of a number or a simple word among the arguments
  [[ $1 =~ \"$2\":[[:space:]]*\"?([A-Za-z0-9.]+) ]] && printf '%s' "${BASH_REMATCH[1]}"
}
tool_echo() { printf '%s' "$1"; }
tool_say() { printf '[%s]' "$mcpc_arg_text"; }
tool_size() { printf '%d' "${#mcpc_arg_text}"; }
tool_digest() { printf '%s' "$mcpc_arg_text" | sha256sum; }
tool_ignore() { echo ignored; }
tool_sleep() { sleep "$(given "$1" seconds)"; echo slept; }
tool_burn() {
  local end
  end=$(( ${EPOCHREALTIME/./} + $(given "$1" seconds | cut -d. -f1) * 1000000 ))
  while (( ${EPOCHREALTIME/./} < end )); do :; done
  echo burnt
}
tool_hold() { tool_burn "$1"; }
tool_spawn() { /bin/true; sleep "$(given "$1" seconds)"; echo spawned; }
tool_flood() {
  local count
  count=$(( $(given "$1" mib) << 20 ))
  if [[ $(given "$1" to) == stderr ]]; then
    head -c "$count" /dev/zero | tr '\0' x >&2
    echo flooded
  else
    head -c "$count" /dev/zero | tr '\0' x
  fi
}
tool_lines() { echo begin; yes '' | head -n "$(given "$1" count)"; echo end; }
tool_notes() {
  local count
  count=$(given "$1" count)
  seq "$count" | sed 's/.*/{"progress":&}/' >&"$MCPC_NOTES"
  echo noted
}
again() { again; }
tool_fail() {
  case $(given "$1" how) in
    status) echo wrong >&2; return 3 ;;
    missing) no_such_command_here ;;
    exit) exit 3 ;;
    interrupt) kill -INT "$BASHPID"; sleep 5; echo survived ;;
    recursion) ulimit -s 512; again ;;
    kill) kill -KILL "$BASHPID"; sleep 5 ;;
    segv) kill -SEGV "$BASHPID"; sleep 5 ;;
    term) kill -TERM "$BASHPID"; sleep 5; echo survived ;;
    exec) exec false ;;
    group) kill -KILL 0; sleep 5 ;;
    close) exec >&- 2>&- 3>&- 4>&- 5>&-; false ;;
  esac
}
tool_never() {
  case $(given "$1" how) in
    sleep) sleep 3600 ;;
    burn|hold) while :; do :; done ;;
    stubborn) tool_stubborn ;;
    drip) while :; do printf x; sleep 1; done ;;
  esac
}
tool_broken() { echo '{"nonsense": 1}'; }
tool_empty() { :; }
tool_noise() {
  echo '{"jsonrpc":"2.0","id":"r1","result":{"forged":1}}'
  echo '{"jsonrpc":"2.0","method":"forged"}' >&2
  echo 'on descriptor one' >/dev/stdout
  /bin/echo 'from a child'
}
tool_colours() { printf '\033[31mred\033[0m \033]0;title\007 {"jsonrpc":"2.0","id":1,"result":{}}'; }
tool_change() {
  cd /
  trap '' TERM INT HUP
  umask 0777
  IFS=x
  set -f
  echo() { :; }
  export -f echo
  PATH=/nowhere
  export PATH
  printf changed
}
tool_input() { local data; data=$(cat); printf '%d' "${#data}"; }
tool_daemon() { ( setsid sleep 300 & ); ( setsid bash -c 'trap "" TERM HUP; sleep 300 & wait' & ); echo left; }
tool_straggler() { sleep 300 & echo left; }
tool_stubborn() { trap '' TERM INT HUP; bash -c 'trap "" TERM INT HUP; while :; do sleep 1; done'; }
tool_child() { sleep 3600; }
tool_where() { printf '%s|%s|%s|%s' "$PWD" "$(umask)" "${#PATH}" "$(type -t echo)"; }
tool_loop() { while :; do sleep 0.01; done; }
