# What server.d/health-checks.sh may use: each tells on standard error whether something is there, and fails if not.
# shellcheck shell=bash

# mcp_health_check_command NAME [WORDS]: a program is on PATH.
mcp_health_check_command() {
  if command -v -- "$1" >/dev/null 2>&1; then
    printf 'ok: %s\n' "${2:-command $1}" >&2
  else
    printf 'missing: %s (not on PATH)\n' "${2:-command $1}" >&2
    return 1
  fi
}

# mcp_health_check_env NAME [WORDS]: a variable is set, and not to nothing.
mcp_health_check_env() {
  if [[ -n "${!1:-}" ]]; then
    printf 'ok: %s\n' "${2:-variable $1}" >&2
  else
    printf 'missing: %s (not set)\n' "${2:-variable $1}" >&2
    return 1
  fi
}

export -f mcp_health_check_command mcp_health_check_env
