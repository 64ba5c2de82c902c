# shellcheck shell=bash
# Which hosts a script may speak with.
#
# Rule: what is not certainly a public address counts as private, and a list is compared name by name.

set -euo pipefail

# mcp_policy_normalize_host HOST: prints it without brackets and in small letters.
mcp_policy_normalize_host() {
  local __mcpc_host=${1-}
  if [[ -z $__mcpc_host ]]; then return 1; fi
  if [[ $__mcpc_host == \[* ]]; then
    __mcpc_host=${__mcpc_host#\[}
    __mcpc_host=${__mcpc_host%\]}
  fi
  printf '%s' "${__mcpc_host,,}"
}

# mcp_policy_extract_host_from_url URL: also where a user is named before the host, or the host is an IPv6 address.
mcp_policy_extract_host_from_url() {
  local __mcpc_authority=${1#*://}
  __mcpc_authority=${__mcpc_authority%%[/?#\\]*}
  __mcpc_authority=${__mcpc_authority##*@}
  if [[ $__mcpc_authority == \[*\]* ]]; then
    __mcpc_authority=${__mcpc_authority#\[}
    __mcpc_authority=${__mcpc_authority%%\]*}
  else
    __mcpc_authority=${__mcpc_authority%%:*}
  fi
  mcp_policy_normalize_host "$__mcpc_authority"
}

# mcp_policy_ipv4_is_private ADDRESS
mcp_policy_ipv4_is_private() {
  case $1 in
    '' | localhost | 0.* | 10.* | 127.* | 169.254.* | 192.168.* | 192.0.0.* | 198.1[89].*) return 0 ;;
    172.1[6-9].* | 172.2[0-9].* | 172.3[01].*) return 0 ;;
    100.6[4-9].* | 100.[7-9][0-9].* | 100.1[01][0-9].* | 100.12[0-7].*) return 0 ;;
    22[4-9].*.*.* | 23[0-9].*.*.* | 24[0-9].*.*.* | 25[0-5].*.*.*) return 0 ;;
    *) return 1 ;;
  esac
}

# mcp_policy_ipv4_from_v4mapped_hex ADDRESS: prints the IPv4 address in one such as ::ffff:7f00:1.
mcp_policy_ipv4_from_v4mapped_hex() {
  local __mcpc_address=${1,,} __mcpc_high __mcpc_low
  __mcpc_address=${__mcpc_address#\[}
  __mcpc_address=${__mcpc_address%%[]%]*}
  if [[ ! $__mcpc_address =~ ^[0:]*:ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$ ]]; then return 1; fi
  __mcpc_high=$((16#${BASH_REMATCH[1]})) __mcpc_low=$((16#${BASH_REMATCH[2]}))
  printf '%d.%d.%d.%d' $((__mcpc_high >> 8)) $((__mcpc_high & 255)) $((__mcpc_low >> 8)) $((__mcpc_low & 255))
}

# mcp_policy_ip_is_private ADDRESS: of either kind.
mcp_policy_ip_is_private() {
  local __mcpc_address=${1,,} __mcpc_inner
  __mcpc_address=${__mcpc_address#\[}
  __mcpc_address=${__mcpc_address%%[]%]*}
  if mcp_policy_ipv4_is_private "$__mcpc_address"; then return 0; fi
  case $__mcpc_address in
    :: | ::1 | fe[89ab]?:* | f[cd]??:* | f[cd]?:* | ff??:* | *:ffff:0:*.*) return 0 ;;
    *:*.*) mcp_policy_ipv4_is_private "${__mcpc_address##*:}" ;;
    *:*)
      __mcpc_inner=$(mcp_policy_ipv4_from_v4mapped_hex "$__mcpc_address") && mcp_policy_ipv4_is_private "$__mcpc_inner"
      ;;
    *) return 1 ;;
  esac
}

# mcp_policy_resolve_ips HOST: prints its addresses, each in a line; 1 if there are none.
mcp_policy_resolve_ips() {
  local -A __mcpc_seen=()
  local __mcpc_address __mcpc_answer
  __mcpc_answer=$(getent ahosts "$1" 2>/dev/null) || __mcpc_answer=''
  if [[ -z $__mcpc_answer ]]; then __mcpc_answer=$(dig +short "$1" A "$1" AAAA 2>/dev/null) || __mcpc_answer=''; fi
  while read -r __mcpc_address _; do
    if [[ $__mcpc_address == *[.:]* && $__mcpc_address != *[!0-9a-fA-F.:%]* && \
      -z ${__mcpc_seen[$__mcpc_address]-} ]]; then
      __mcpc_seen[$__mcpc_address]=1
      printf '%s\n' "$__mcpc_address"
    fi
  done <<<"$__mcpc_answer"
  ((${#__mcpc_seen[@]}))
}

# mcp_policy_host_is_private HOST: true if one of its addresses is.
mcp_policy_host_is_private() {
  local __mcpc_address __mcpc_addresses
  if mcp_policy_ip_is_private "$1"; then return 0; fi
  __mcpc_addresses=$(mcp_policy_resolve_ips "$1") || return 1
  while read -r __mcpc_address; do
    if mcp_policy_ip_is_private "$__mcpc_address"; then return 0; fi
  done <<<"$__mcpc_addresses"
  return 1
}

# mcp_policy_host_match_list HOST LIST: the names in LIST stand between commas or blanks.
mcp_policy_host_match_list() {
  local - IFS=$', \t\n' __mcpc_name
  set -f
  for __mcpc_name in $2; do
    if [[ $1 == "$(mcp_policy_normalize_host "$__mcpc_name")" ]]; then return 0; fi
  done
  return 1
}

# mcp_policy_host_allowed HOST ALLOWED DENIED: an empty list of what is allowed allows what is not denied.
mcp_policy_host_allowed() {
  if [[ ${3-} ]] && mcp_policy_host_match_list "$1" "$3"; then return 1; fi
  [[ -z ${2-} ]] || mcp_policy_host_match_list "$1" "$2"
}
