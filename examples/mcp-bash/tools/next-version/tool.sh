#!/usr/bin/env bash
# shellcheck source=/dev/null
source "${MCP_SDK:?}/tool-sdk.sh"

mcp_config_load --file "${MCPBASH_PROJECT_ROOT}/config.json" --defaults '{"prefix": ""}'
prefix=$(mcp_config_get .prefix)
version=$(mcp_args_require .version)
part=$(mcp_args_get '.part // "patch"')

if [[ ! ${version#"$prefix"} =~ ^([0-9]+)\.([0-9]+)\.([0-9]+)$ ]]; then
  mcp_error invalid_version "'$version' is no version" --hint "Three numbers with dots between them, like 1.4.2"
  exit
fi
numbers=("${BASH_REMATCH[@]:1}")

case $part in
  major) numbers=($((numbers[0] + 1)) 0 0) ;;
  minor) numbers=("${numbers[0]}" $((numbers[1] + 1)) 0) ;;
  patch) numbers=("${numbers[0]}" "${numbers[1]}" $((numbers[2] + 1))) ;;
  *) mcp_fail_invalid_args ".part must be major, minor or patch" ;;
esac
printf -v next '%s%d.%d.%d' "$prefix" "${numbers[@]}"
mcp_result_success "$(mcp_json_obj version "$next")"
