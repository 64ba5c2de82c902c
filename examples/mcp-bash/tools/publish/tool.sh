#!/usr/bin/env bash
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"

version=$(mcp_args_require .version)
answer=$(mcp_elicit_confirm "Publish $version?") || mcp_fail -32603 "nobody can be asked whether to publish"
if [[ $answer != *'"confirmed":true'* ]]; then
  mcp_emit_text "$version was not published"
  exit
fi

mcp_config_load --file "${MCPBASH_PROJECT_ROOT}/config.json"
count=$(mcp_config_get '.steps | length')
for ((step = 0; step < count; step++)); do
  name=$(mcp_config_get ".steps[$step]")
  mcp_progress $((step * 100 / count)) "$name" 100
  mcp_log_info publish "$name of $version"
done
mcp_progress 100 "published" 100
mcp_emit_text "$version is published"
