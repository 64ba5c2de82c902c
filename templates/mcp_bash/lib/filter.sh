# shellcheck shell=bash disable=SC2154 # The variables are of tool-sdk.sh and its parts.
# The part of jq's language for reading arguments, applied to values that lib/json.sh has read.
#
#   .  .a  ."a b"  .["a"]  .[0]  .[-1]  .[]  a ? after any of them, a // b, a | b, texts, numbers, true, false, null, [],
#   {}, empty, length, type, not, tostring
#
# Rule: supported filters return what `jq -rc` does; any other returns 9 and no value.

# __mcpc_filter FILTER: sets __mcpc_results to the tokens at which the results begin; 5 an error (with the results before
# it), 9 not understood.
__mcpc_filter() {
  local - LC_ALL=C
  set +eux -f
  local -a __mcpc_steps=()
  __mcpc_compile "$1" || return 9
  local -a __mcpc_inputs=("${__mcpc_starts[0]}") __mcpc_given __mcpc_values
  local __mcpc_step __mcpc_input __mcpc_stage=() __mcpc_status=0
  __mcpc_steps+=('|')
  for __mcpc_step in "${__mcpc_steps[@]}"; do
    if [[ $__mcpc_step != '|' ]]; then
      __mcpc_stage+=("$__mcpc_step")
      continue
    fi
    __mcpc_given=()
    for __mcpc_input in "${__mcpc_inputs[@]}"; do
      __mcpc_stage "$__mcpc_input" || __mcpc_status=$?
      __mcpc_given+=("${__mcpc_values[@]}")
      ((__mcpc_status == 0)) || break
    done
    __mcpc_inputs=("${__mcpc_given[@]}") __mcpc_stage=()
  done
  __mcpc_results=("${__mcpc_inputs[@]}")
  return "$__mcpc_status"
}

# __mcpc_compile FILTER: puts $__mcpc_steps together: `k` and a name's token, `i` and a number, `*` all, `=` and the
# place of a literal in the table, `f` and a function, each perhaps after a `?`; `|` and `//` stand for themselves.
__mcpc_compile() {
  local __mcpc_rest=$1 __mcpc_is_begun=0 __mcpc_name='^[A-Za-z_][A-Za-z0-9_]*' \
    __mcpc_text='^"(([^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*)"'
  local __mcpc_index='^\[[ ]*(-?(0|[1-9][0-9]*))[ ]*\]' __mcpc_step __mcpc_string
  while __mcpc_rest=${__mcpc_rest#"${__mcpc_rest%%[! $'\t\n\r']*}"}; [[ $__mcpc_rest ]]; do
    __mcpc_step=
    case $__mcpc_is_begun$__mcpc_rest in
      [12]//*) __mcpc_step=// __mcpc_rest=${__mcpc_rest:2} __mcpc_is_begun=0 ;;
      [12]\|*) __mcpc_step='|' __mcpc_rest=${__mcpc_rest:1} __mcpc_is_begun=0 ;;
      [12]\[\]*) __mcpc_step='*' __mcpc_rest=${__mcpc_rest:2} ;;
      [12]\[\"*)
        __mcpc_rest=${__mcpc_rest:1}
        [[ $__mcpc_rest =~ $__mcpc_text ]] || return 1
        __mcpc_string=${BASH_REMATCH[1]} __mcpc_rest=${__mcpc_rest:${#BASH_REMATCH[0]}}
        [[ $__mcpc_rest == \]* ]] || return 1
        __mcpc_rest=${__mcpc_rest:1}
        __mcpc_shortest || return 1
        __mcpc_step="k\"$__mcpc_string\""
        ;;
      [12]\[*)
        [[ $__mcpc_rest =~ $__mcpc_index && ${#BASH_REMATCH[1]} -lt 10 ]] || return 1
        __mcpc_rest=${__mcpc_rest:${#BASH_REMATCH[0]}} __mcpc_step=i${BASH_REMATCH[1]}
        ;;
      [02].[\[\"A-Za-z_]* | 1.[\"A-Za-z_\[]*)
        __mcpc_rest=${__mcpc_rest:1} __mcpc_is_begun=1
        case $__mcpc_rest in
          \[*) continue ;;
          \"*)
            [[ $__mcpc_rest =~ $__mcpc_text ]] || return 1
            __mcpc_string=${BASH_REMATCH[1]} __mcpc_rest=${__mcpc_rest:${#BASH_REMATCH[0]}}
            __mcpc_shortest || return 1
            ;;
          *)
            [[ $__mcpc_rest =~ $__mcpc_name ]] || return 1
            __mcpc_string=${BASH_REMATCH[0]} __mcpc_rest=${__mcpc_rest:${#BASH_REMATCH[0]}}
            ;;
        esac
        __mcpc_step="k\"$__mcpc_string\""
        ;;
      0..*) return 1 ;;
      0.*) __mcpc_rest=${__mcpc_rest:1} __mcpc_is_begun=2 ;;
      0*) __mcpc_term || return 1 ;;
      *) return 1 ;;
    esac
    while [[ $__mcpc_rest == \?* && ${__mcpc_step:0:1} == [ki*] ]]; do
      __mcpc_step="?${__mcpc_step#\?}" __mcpc_rest=${__mcpc_rest:1}
    done
    if [[ $__mcpc_step == [ki*?]* ]]; then __mcpc_is_begun=1; fi
    if [[ $__mcpc_step ]]; then __mcpc_steps+=("$__mcpc_step"); fi
  done
  ((__mcpc_is_begun))
}

# __mcpc_term: compiles a literal or a function at the beginning of $__mcpc_rest.
__mcpc_term() {
  __mcpc_is_begun=2
  if [[ $__mcpc_rest =~ $__mcpc_text ]]; then
    __mcpc_string=${BASH_REMATCH[1]} __mcpc_rest=${__mcpc_rest:${#BASH_REMATCH[0]}}
    __mcpc_shortest || return 1
    __mcpc_literal "\"$__mcpc_string\""
  elif [[ $__mcpc_rest =~ ^-?(0|[1-9][0-9]*)(\.[0-9]+)? ]]; then
    __mcpc_rest=${__mcpc_rest:${#BASH_REMATCH[0]}}
    __mcpc_literal "${BASH_REMATCH[0]}"
  elif [[ $__mcpc_rest == '[]'* || $__mcpc_rest == '{}'* ]]; then
    __mcpc_literal "${__mcpc_rest:0:1}" "${__mcpc_rest:1:1}"
    __mcpc_rest=${__mcpc_rest:2}
  elif [[ $__mcpc_rest =~ $__mcpc_name ]]; then
    __mcpc_rest=${__mcpc_rest:${#BASH_REMATCH[0]}}
    case ${BASH_REMATCH[0]} in
      true | false | null) __mcpc_literal "${BASH_REMATCH[0]}" ;;
      empty | length | type | not | tostring) __mcpc_step=f${BASH_REMATCH[0]} ;;
      *) return 1 ;;
    esac
  else
    return 1
  fi
}

# __mcpc_literal TOKEN…: puts a value into the table, where nothing refers to it but what is computed here.
__mcpc_literal() {
  local __mcpc_start=${#__mcpc_tokens[@]}
  __mcpc_tokens+=("$@")
  if (($# > 1)); then __mcpc_ends[__mcpc_start]=$((__mcpc_start + 1)); fi
  __mcpc_step="=$__mcpc_start"
}

# __mcpc_stage INPUT: sets $__mcpc_values to what a stage makes of it.
__mcpc_stage() {
  local __mcpc_step __mcpc_value __mcpc_status=0
  __mcpc_values=("$1")
  for __mcpc_step in "${__mcpc_stage[@]}"; do
    if ((__mcpc_status == 9)); then
      return 9
    elif [[ $__mcpc_step == // ]]; then
      local -a __mcpc_kept=()
      for __mcpc_value in "${__mcpc_values[@]}"; do
        if [[ ${__mcpc_tokens[__mcpc_value]} != @(null|false) ]]; then __mcpc_kept+=("$__mcpc_value"); fi
      done
      if ((${#__mcpc_kept[@]})); then
        __mcpc_values=("${__mcpc_kept[@]}")
        return 0
      fi
      __mcpc_values=("$1") __mcpc_status=0
    elif ((__mcpc_status == 0)); then
      __mcpc_step "$__mcpc_step" || __mcpc_status=$?
    fi
  done
  return "$__mcpc_status"
}

# __mcpc_step STEP: takes every value of $__mcpc_values through one step.
__mcpc_step() {
  local __mcpc_step=${1#\?} __mcpc_value __mcpc_status=0 __mcpc_at
  local -a __mcpc_next=() __mcpc_found
  for __mcpc_value in "${__mcpc_values[@]}"; do
    __mcpc_found=()
    case ${__mcpc_step:0:1}${__mcpc_tokens[__mcpc_value]} in
      [ki]null) __mcpc_null ;;
      k\{)
        __mcpc_member "$__mcpc_value" "${__mcpc_step:1}"
        if [[ $__mcpc_at ]]; then __mcpc_found=("$__mcpc_at"); else __mcpc_null; fi
        ;;
      i\[)
        __mcpc_children "$__mcpc_value"
        __mcpc_value=${__mcpc_step:1}
        ((__mcpc_value >= 0)) || ((__mcpc_value += ${#__mcpc_found[@]}))
        if ((__mcpc_value >= 0 && __mcpc_value < ${#__mcpc_found[@]})); then
          __mcpc_found=("${__mcpc_found[__mcpc_value]}")
        else
          __mcpc_null
        fi
        ;;
      \*[\[\{]) __mcpc_children "$__mcpc_value" ;;
      =*) __mcpc_found=("${__mcpc_step:1}") ;;
      f*) __mcpc_function "${__mcpc_step:1}" "$__mcpc_value" || __mcpc_status=$? ;;
      *) [[ $1 == \?* ]] || __mcpc_status=5 ;;
    esac
    ((__mcpc_status == 0)) || break
    __mcpc_next+=("${__mcpc_found[@]}")
  done
  __mcpc_values=("${__mcpc_next[@]}")
  return "$__mcpc_status"
}

__mcpc_null() {
  local __mcpc_step
  __mcpc_literal null
  __mcpc_found=("${__mcpc_step:1}")
}

# __mcpc_function NAME VALUE: sets __mcpc_found to what a function makes of a value; 5 if it cannot, 9 if we cannot.
__mcpc_function() {
  local __mcpc_token=${__mcpc_tokens[$2]} __mcpc_out __mcpc_step=
  case $1$__mcpc_token in
    empty*) return 0 ;;
    type\"*) __mcpc_literal '"string"' ;;
    type\{) __mcpc_literal '"object"' ;;
    type\[) __mcpc_literal '"array"' ;;
    typenull) __mcpc_literal '"null"' ;;
    typetrue | typefalse) __mcpc_literal '"boolean"' ;;
    type*) __mcpc_literal '"number"' ;;
    notnull | notfalse) __mcpc_literal true ;;
    not*) __mcpc_literal false ;;
    tostring\"*) __mcpc_step="=$2" ;;
    tostring*)
      __mcpc_value "$2"
      __mcpc_string "$__mcpc_out"
      __mcpc_literal "$__mcpc_out"
      ;;
    lengthnull) __mcpc_literal 0 ;;
    lengthtrue | lengthfalse) return 5 ;;
    length[\[\{])
      __mcpc_children "$2"
      __mcpc_literal "${#__mcpc_found[@]}"
      ;;
    length\"*)
      __mcpc_out=$__mcpc_token
      __mcpc_plain
      [[ $__mcpc_token != *'\u0000'* ]] || return 9
      __mcpc_out=${__mcpc_out//[$'\x80'-$'\xbf']/} # what goes on with a character
      __mcpc_literal "${#__mcpc_out}"
      ;;
    *) return 9 ;;
  esac
  __mcpc_found=("${__mcpc_step:1}")
}
