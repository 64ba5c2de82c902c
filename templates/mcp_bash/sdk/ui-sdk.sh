# shellcheck shell=bash disable=SC2154 # The variables are of tool-sdk.sh and its parts.
# What a tool with a user interface answers, and small pages.
#
# Rule: a client that shows no interface gets the text; nothing that is put into a page becomes markup.

set -euo pipefail

mcp_client_supports_ui() {
  local __mcpc_support=''
  if [[ ${MCPBASH_CLIENT_SUPPORTS_UI:-0} == 1 ]]; then return 0; fi
  if [[ -f ${MCPBASH_STATE_DIR-}/extensions.ui.support ]]; then
    IFS= read -r __mcpc_support <"$MCPBASH_STATE_DIR/extensions.ui.support" || :
  fi
  [[ $__mcpc_support == 1 ]]
}

# mcp_result_with_ui URI TEXT [JSON]: which interface shows the data is said in the tool's definition, and not by URI.
mcp_result_with_ui() {
  local __mcpc_out __mcpc_count __mcpc_data=null
  if mcp_client_supports_ui && [[ ${3-} ]]; then
    if ! __mcpc_compact "$3" || ((__mcpc_count != 1)); then
      __mcpc_failure internal_error 'the data of the interface are not JSON'
      return 0
    fi
    __mcpc_data=$__mcpc_out
  fi
  __mcpc_string "$2"
  printf '{"content":[{"type":"text","text":%s}]' "$__mcpc_out"
  if [[ $__mcpc_data != null ]]; then printf ',"structuredContent":%s' "$__mcpc_data"; fi
  printf ',"isError":false}\n'
}

mcp_result_with_ui_data() { mcp_result_with_ui "$1" "$2" "$3"; }

# __mcpc_html TEXT: sets __mcpc_out to it as text in a page or an attribute.
__mcpc_html() {
  local __mcpc_amp='&amp;' __mcpc_lt='&lt;' __mcpc_quote='&quot;'
  __mcpc_out=${1//&/"$__mcpc_amp"}
  __mcpc_out=${__mcpc_out//</"$__mcpc_lt"}
  __mcpc_out=${__mcpc_out//\"/"$__mcpc_quote"}
}

# __mcpc_page TITLE BODY
__mcpc_page() {
  local __mcpc_out
  __mcpc_html "$1"
  printf '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>%s</title>\n' "$__mcpc_out"
  printf '<style>body{font:1rem/1.5 system-ui,sans-serif;margin:1rem}label{display:block;margin:.5rem 0}\n'
  printf 'table{border-collapse:collapse}th,td{border:1px solid;padding:.25rem .5rem;text-align:start}</style>\n'
  printf '</head>\n<body>\n<h1>%s</h1>\n%s\n</body>\n</html>\n' "$__mcpc_out" "$2"
}

# __mcpc_field NAME TYPE OPTIONS: sets __mcpc_out to a labelled field of a form.
__mcpc_field() {
  local __mcpc_name __mcpc_label __mcpc_option __mcpc_word __mcpc_field
  __mcpc_label=''
  for __mcpc_word in ${1//[-_]/ }; do __mcpc_label+=" ${__mcpc_word^}"; done
  __mcpc_html "$1"
  __mcpc_name=$__mcpc_out
  case $2 in
    textarea) __mcpc_field="<textarea name=\"$__mcpc_name\"></textarea>" ;;
    select)
      __mcpc_field="<select name=\"$__mcpc_name\">"
      while IFS= read -r -d , __mcpc_option; do
        __mcpc_html "$__mcpc_option"
        __mcpc_field+="<option>$__mcpc_out</option>"
      done <<<"$3,"
      __mcpc_field+=\</select\>
      ;;
    checkbox | email | number | date) __mcpc_field="<input name=\"$__mcpc_name\" type=\"$2\">" ;;
    *) __mcpc_field="<input name=\"$__mcpc_name\" type=\"text\">" ;;
  esac
  __mcpc_html "${__mcpc_label:1}"
  __mcpc_out="<label>$__mcpc_out $__mcpc_field</label>"
}

# mcp_ui_form [--title TEXT] [--field NAME:TYPE[:OPTION,…]]… [--submit-tool TOOL]: prints a page with a form that calls
# a tool with what was filled in.
mcp_ui_form() {
  local - __mcpc_title='' __mcpc_tool='' __mcpc_body='<form>' __mcpc_out
  local __mcpc_name __mcpc_type __mcpc_options __mcpc_field
  set -f
  local -a __mcpc_fields=()
  while (($#)); do
    case $1 in
      --title) __mcpc_title=${2-} ;;
      --field) __mcpc_fields+=("${2-}") ;;
      --submit-tool) __mcpc_tool=${2-} ;;
      *) set -- '' "$@" ;;
    esac
    shift 2 || shift $#
  done
  for __mcpc_field in ${__mcpc_fields[@]+"${__mcpc_fields[@]}"}; do
    IFS=: read -r __mcpc_name __mcpc_type __mcpc_options <<<"$__mcpc_field"
    __mcpc_field "$__mcpc_name" "$__mcpc_type" "$__mcpc_options"
    __mcpc_body+=$'\n'$__mcpc_out
  done
  __mcpc_string "$__mcpc_tool"
  __mcpc_html "$__mcpc_out"
  __mcpc_body+=$'\n<button>Submit</button>\n</form>\n<p role="status"></p>\n<script data-tool="'$__mcpc_out$'">\n'
  __mcpc_body+='const tool = JSON.parse(document.currentScript.dataset.tool), form = document.forms[0];
addEventListener("message", ({source, data}) => {
  if (source === parent && data && data.id === 1)
    document.querySelector("[role=status]").textContent = data.error ? data.error.message : "Done";
});
form.addEventListener("submit", event => {
  event.preventDefault();
  const values = {};
  for (const field of form.elements)
    if (field.name)
      values[field.name] = field.type === "checkbox" ? field.checked
        : field.type === "number" && field.value !== "" ? field.valueAsNumber : field.value;
  parent.postMessage({jsonrpc: "2.0", id: 1, method: "tools/call", params: {name: tool, arguments: values}}, "*");
});
</script>'
  __mcpc_page "$__mcpc_title" "$__mcpc_body"
}

# mcp_ui_table --columns NAME,… [--title TEXT]: prints a page with a table of the JSON objects that come in.
mcp_ui_table() {
  local __mcpc_title=Data __mcpc_columns='' __mcpc_data='' __mcpc_body='<table><thead><tr>'
  local __mcpc_row __mcpc_name __mcpc_out __mcpc_at
  local -a __mcpc_names=() __mcpc_rows=() __mcpc_found=()
  while (($#)); do
    case $1 in
      --title) __mcpc_title=${2-} ;;
      --columns) __mcpc_columns=${2-} ;;
      *) set -- '' "$@" ;;
    esac
    shift 2 || shift $#
  done
  IFS= read -r -d '' __mcpc_data || :
  IFS=, read -r -a __mcpc_names <<<"$__mcpc_columns"
  for __mcpc_name in ${__mcpc_names[@]+"${__mcpc_names[@]}"}; do
    __mcpc_html "$__mcpc_name"
    __mcpc_body+="<th scope=\"col\">$__mcpc_out</th>"
  done
  __mcpc_body+='</tr></thead><tbody>'
  __mcpc_read "${__mcpc_data:-[]}" || (($? == 2)) || __mcpc_read '[]'
  if [[ ${__mcpc_tokens[0]-} == \[ ]]; then __mcpc_children 0; fi
  __mcpc_rows=(${__mcpc_found[@]+"${__mcpc_found[@]}"})
  for __mcpc_row in ${__mcpc_rows[@]+"${__mcpc_rows[@]}"}; do
    __mcpc_body+=$'\n<tr>'
    for __mcpc_name in ${__mcpc_names[@]+"${__mcpc_names[@]}"}; do
      __mcpc_cell "$__mcpc_row" "$__mcpc_name"
      __mcpc_body+="<td>$__mcpc_out</td>"
    done
    __mcpc_body+='</tr>'
  done
  __mcpc_page "$__mcpc_title" "$__mcpc_body</tbody></table>"
}

# __mcpc_cell ROW NAME: sets __mcpc_out to what a member of the object at ROW looks like in a page.
__mcpc_cell() {
  __mcpc_at='' __mcpc_out=''
  if [[ ${__mcpc_tokens[$1]} != \{ ]]; then return 0; fi
  __mcpc_string "$2"
  __mcpc_member "$1" "$__mcpc_out"
  __mcpc_out=''
  if [[ $__mcpc_at && ${__mcpc_tokens[__mcpc_at]} != null ]]; then __mcpc_value "$__mcpc_at"; fi
  if [[ $__mcpc_out == \"* ]]; then __mcpc_plain; fi
  __mcpc_html "$__mcpc_out"
}

# mcp_tool_meta_with_ui URI [VISIBILITY]: prints the `_meta` of a tool's definition.
mcp_tool_meta_with_ui() {
  local __mcpc_out __mcpc_uri __mcpc_list='' __mcpc_who
  __mcpc_string "$1"
  __mcpc_uri=$__mcpc_out
  while IFS=$' \t' read -r -d , __mcpc_who; do
    __mcpc_string "$__mcpc_who"
    __mcpc_list+=,$__mcpc_out
  done <<<"${2:-model,app},"
  printf '{"ui":{"resourceUri":%s,"visibility":[%s]}}\n' "$__mcpc_uri" "${__mcpc_list:1}"
}
