#!/usr/bin/env bash
# shellcheck disable=SC1091
source "${MCP_SDK}/tool-sdk.sh"
words="$(mcp_args_require '.words')"
mcp_result_success "$(mcp_json_obj count "$(wc -w <<<"$words")")"
