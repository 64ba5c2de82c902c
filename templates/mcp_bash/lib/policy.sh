# shellcheck shell=bash
# Which hosts a script may speak with.
#
# Its law: what is not certainly a public address counts as private, and a list is compared name by name.

set -euo pipefail

# mcp_policy_normalize_host HOST: prints it without brackets and in small letters.
mcp_policy_normalize_host() {
  local host=${1-}
  if [[ -z $host ]]; then return 1; fi
  if [[ $host == \[* ]]; then
    host=${host#\[}
    host=${host%\]}
  fi
  printf '%s' "${host,,}"
}

# mcp_policy_extract_host_from_url URL: also where a user is named before the host, or the host is an IPv6 address.
mcp_policy_extract_host_from_url() {
  local place=${1#*://}
  place=${place%%[/?#\\]*}
  place=${place##*@}
  if [[ $place == \[*\]* ]]; then
    place=${place#\[}
    place=${place%%\]*}
  else
    place=${place%%:*}
  fi
  mcp_policy_normalize_host "$place"
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
  local address=${1,,} high low
  address=${address#\[}
  address=${address%%[]%]*}
  if [[ ! $address =~ ^[0:]*:ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$ ]]; then return 1; fi
  high=$((16#${BASH_REMATCH[1]})) low=$((16#${BASH_REMATCH[2]}))
  printf '%d.%d.%d.%d' $((high >> 8)) $((high & 255)) $((low >> 8)) $((low & 255))
}

# mcp_policy_ip_is_private ADDRESS: of either kind.
mcp_policy_ip_is_private() {
  local address=${1,,} inner
  address=${address#\[}
  address=${address%%[]%]*}
  if mcp_policy_ipv4_is_private "$address"; then return 0; fi
  case $address in
    :: | ::1 | fe[89ab]?:* | f[cd]??:* | f[cd]?:* | ff??:* | *:ffff:0:*.*) return 0 ;;
    *:*.*) mcp_policy_ipv4_is_private "${address##*:}" ;;
    *:*) inner=$(mcp_policy_ipv4_from_v4mapped_hex "$address") && mcp_policy_ipv4_is_private "$inner" ;;
    *) return 1 ;;
  esac
}

# mcp_policy_resolve_ips HOST: prints its addresses, each in a line; 1 if there are none.
mcp_policy_resolve_ips() {
  local -A seen=()
  local address found
  found=$(getent ahosts "$1" 2>/dev/null) || found=''
  if [[ -z $found ]]; then found=$(dig +short "$1" A "$1" AAAA 2>/dev/null) || found=''; fi
  while read -r address _; do
    if [[ $address == *[.:]* && $address != *[!0-9a-fA-F.:%]* && -z ${seen[$address]-} ]]; then
      seen[$address]=1
      printf '%s\n' "$address"
    fi
  done <<<"$found"
  ((${#seen[@]}))
}

# mcp_policy_host_is_private HOST: true if one of its addresses is.
mcp_policy_host_is_private() {
  local address addresses
  if mcp_policy_ip_is_private "$1"; then return 0; fi
  addresses=$(mcp_policy_resolve_ips "$1") || return 1
  while read -r address; do
    if mcp_policy_ip_is_private "$address"; then return 0; fi
  done <<<"$addresses"
  return 1
}

# mcp_policy_host_match_list HOST LIST: the names in LIST stand between commas or blanks.
mcp_policy_host_match_list() {
  local - IFS=$', \t\n' name
  set -f
  for name in $2; do
    if [[ $1 == "$(mcp_policy_normalize_host "$name")" ]]; then return 0; fi
  done
  return 1
}

# mcp_policy_host_allowed HOST ALLOWED DENIED: an empty list of what is allowed allows what is not denied.
mcp_policy_host_allowed() {
  if [[ ${3-} ]] && mcp_policy_host_match_list "$1" "$3"; then return 1; fi
  [[ -z ${2-} ]] || mcp_policy_host_match_list "$1" "$2"
}
