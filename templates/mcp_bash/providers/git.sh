#!/usr/bin/env bash
# A file of a repository, by git+https://HOST/REPOSITORY#REF:PATH, or #PATH for what HEAD has.
#
# The server has decided already that the host may be asked, and where it is (MCPC_ADDRESSES): git connects to these
# addresses and looks up nothing.  No configuration is read, no hook, no filter and no other protocol is used, nothing
# is checked out; nothing of the uri can be an option.  Statuses: 3 not found, 4 refused, 5 not fetched, 6 too large.
set -euo pipefail

fail() {
  printf '%s\n' "$2" >&2
  exit "$1"
}

number() {
  local given="${1:-}"
  [[ "$given" =~ ^[1-9][0-9]{0,8}$ ]] || given="$2"
  ((given <= $3)) || given="$3"
  printf '%s' "$given"
}

readonly uri="${1:-}"
[[ "$uri" == git+https://* ]] || fail 4 "the uri does not begin with git+https://"
[[ "$uri" == *'#'* ]] || fail 4 "the uri names no file: #REF:PATH"
version="$(git version 2>/dev/null)" || fail 4 "git is not here"
[[ "$version" =~ ([0-9]+)\.([0-9]+) ]] || fail 4 "git does not say what it is"
((BASH_REMATCH[1] * 1000 + BASH_REMATCH[2] >= 2037)) || fail 4 "git 2.37 or later is needed, to keep it from looking up"

readonly fragment="${uri#*'#'}"
url="${uri#git+}"
readonly url="${url%%'#'*}"
ref=HEAD path="$fragment"
if [[ "$fragment" == *:* ]]; then
  ref="${fragment%%:*}"
  path="${fragment#*:}"
fi
path="${path#/}"
[[ "$ref" =~ ^[A-Za-z0-9_][A-Za-z0-9._/+-]*$ && "$ref" != *..* ]] || fail 4 "$ref is no branch, tag or commit"
[[ -n "$path" ]] || fail 4 "the uri names no file"
[[ "/$path/" != */../* && "/$path/" != */./* ]] || fail 3 "$path is no file of the repository"
readonly ref path

host="${url#https://}"
host="${host%%[/?]*}"
[[ "$host" != *@* && -n "$host" ]] || fail 4 "the uri names no host that may be asked"
port=443
if [[ "$host" =~ ^(.*):([0-9]+)$ ]]; then
  host="${BASH_REMATCH[1]}" port="${BASH_REMATCH[2]}"
fi
addresses=()
for address in ${MCPC_ADDRESSES:-}; do
  [[ "$address" == *:* ]] && address="[$address]"
  addresses+=("$address")
done
((${#addresses[@]})) || fail 4 "nobody said where $host is"
known="$(IFS=,; printf '%s' "${addresses[*]}")"

seconds="$(number "${MCPBASH_GIT_TIMEOUT:-}" 30 60)"
most_kb="$(number "${MCPBASH_GIT_MAX_KB:-}" 51200 1048576)"
readonly seconds most_kb

folder="$(mktemp -d "${TMPDIR:-/tmp}/mcpc-git.XXXXXX")" || fail 5 "no folder can be made"
trap 'rm -rf -- "$folder"' EXIT

# Every variable that could make git read, run or ask something is gone, or says the opposite.
for name in "${!GIT_@}"; do
  [[ "$name" == GIT_SSL_CAINFO || "$name" == GIT_SSL_CAPATH ]] || unset "$name"
done
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
export GIT_TERMINAL_PROMPT=0 GIT_ALLOW_PROTOCOL=https GIT_OPTIONAL_LOCKS=0 GIT_CONFIG_NOSYSTEM=1
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_ASKPASS=/bin/false SSH_ASKPASS=/bin/false
export GIT_NO_LAZY_FETCH=1 GIT_LFS_SKIP_SMUDGE=1 HOME="$folder" XDG_CONFIG_HOME="$folder"

run_git() {
  command git -c core.hooksPath=/dev/null -c credential.helper= -c core.fsmonitor=false -c protocol.allow=never \
    -c protocol.https.allow=always -c http.followRedirects=false -c http.proxy= -c gc.auto=0 -c maintenance.auto=false \
    -c submodule.recurse=false -c fetch.recurseSubmodules=false -c transfer.fsckObjects=true -c fetch.unpackLimit=1 \
    -c "http.curloptResolve=$host:$port:$known" -c http.lowSpeedLimit=100 -c "http.lowSpeedTime=$seconds" \
    --git-dir="$folder/git" "$@"
}

run_git init --quiet --bare --template= >/dev/null 2>&1 || fail 5 "no repository can be made"

# How many KB have come.
taken() {
  local size
  size="$(du -sk "$folder" 2>/dev/null || true)"
  size="${size%%[!0-9]*}"
  printf '%s' "${size:-0}"
}

# A file may not grow beyond the limit (the system ends git), and git may not go on beyond its time (we do).
fetch() (
  ulimit -f "$most_kb" 2>/dev/null || true
  run_git fetch --quiet --depth=1 --no-tags --no-recurse-submodules --no-write-fetch-head --end-of-options \
    "$url" "$ref:refs/mcpc/wanted"
)
fetch >/dev/null 2>"$folder/errors" &
readonly fetching=$!
for ((step = 0; step < seconds * 10; step++)); do
  kill -0 "$fetching" 2>/dev/null || break
  if (($(taken) > most_kb)); then
    kill "$fetching" 2>/dev/null || true
    fail 6 "the repository is larger than $most_kb KB"
  fi
  sleep 0.1
done
if kill -0 "$fetching" 2>/dev/null; then
  kill "$fetching" 2>/dev/null || true
  fail 5 "fetching $ref took more than $seconds s"
fi
status=0
wait "$fetching" || status=$?
if ((status)); then
  (($(taken) < most_kb)) || fail 6 "the repository is larger than $most_kb KB"
  IFS= read -r reason <"$folder/errors" || true
  fail 5 "$ref was not fetched: ${reason:-status $status}"
fi

entry="$(run_git ls-tree --full-tree -z refs/mcpc/wanted -- ":(literal)$path" 2>/dev/null | tr '\0' '\n')" || entry=""
read -r mode kind object _ <<<"$entry"
[[ "${kind:-}" == blob && "${mode:-}" == 100* ]] || fail 3 "$path is no file of the repository"
run_git cat-file blob "$object"
