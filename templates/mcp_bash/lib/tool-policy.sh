# shellcheck shell=bash
# Asks the policy of a project whether a tool may be called: bash tool-policy.sh POLICY NAME REFUSAL <METADATA
# REFUSAL is what the server's own rule says, nothing if that allows the tool; a project that defines
# mcp_tools_policy_check decides in its place. Printed, each with a null byte before it: whether it may, then the code,
# the message and the data of the error. Whatever the policy prints itself goes to standard error.

exec 3>&1 1>&2
_mcpc_policy=$1 _mcpc_name=$2 _mcpc_refusal=$3
IFS= read -r -d '' _mcpc_metadata || :
_MCP_TOOLS_ERROR_CODE=0 _MCP_TOOLS_ERROR_MESSAGE='' _MCP_TOOLS_ERROR_DATA=''

mcp_tools_error() {
  _MCP_TOOLS_ERROR_CODE=$1 _MCP_TOOLS_ERROR_MESSAGE=$2 _MCP_TOOLS_ERROR_DATA=${3-}
}

mcp_tools_policy_check() {
  [[ -z $_mcpc_refusal ]] || { mcp_tools_error -32602 "$_mcpc_refusal"; return 1; }
}

# shellcheck source=/dev/null
. "$_mcpc_policy" </dev/null
set +eu
if mcp_tools_policy_check "$_mcpc_name" "$_mcpc_metadata" </dev/null; then
  _mcpc_word=allowed
else
  _mcpc_word=denied
fi
printf '%s\0' "$_mcpc_word" "${_MCP_TOOLS_ERROR_CODE-}" "${_MCP_TOOLS_ERROR_MESSAGE-}" "${_MCP_TOOLS_ERROR_DATA-}" >&3
