# shellcheck shell=bash disable=SC2154 # The variables are of tool-sdk.sh and its parts.
# The part of jq's language that arguments are asked with, for what lib/json.sh has read.
#
#   .  .a  ."a b"  .["a"]  .[0]  .[-1]  .[]  a ? after any of them, a // b, a | b, texts, numbers, true, false, null, [],
#   {}, empty, length, type, not, tostring
#
# Its law: what it understands it answers as `jq -rc` does; of everything else it says so (9) and answers nothing.

# __mcpc_filter FILTER: sets __mcpc_results to the tokens at which the results begin; 5 an error (with the results before
# it), 9 not understood.
__mcpc_filter() {
  local - LC_ALL=C
  set +eux -f
  local -a steps=()
  __mcpc_compile "$1" || return 9
  local -a inputs=("${__mcpc_starts[0]}") given values
  local step input stage=() status=0
  steps+=('|')
  for step in "${steps[@]}"; do
    if [[ $step != '|' ]]; then
      stage+=("$step")
      continue
    fi
    given=()
    for input in "${inputs[@]}"; do
      __mcpc_stage "$input" || status=$?
      given+=("${values[@]}")
      ((status == 0)) || break
    done
    inputs=("${given[@]}") stage=()
  done
  __mcpc_results=("${inputs[@]}")
  return "$status"
}

# __mcpc_compile FILTER: puts $steps together: `k` and a name's token, `i` and a number, `*` all, `=` and the place of a
# literal in the table, `f` and a function, each perhaps after a `?`; `|` and `//` stand for themselves.
__mcpc_compile() {
  local rest=$1 name='^[A-Za-z_][A-Za-z0-9_]*' text='^"(([^"\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*)"' is_begun=0
  local index='^\[[ ]*(-?(0|[1-9][0-9]*))[ ]*\]' step string
  while rest=${rest#"${rest%%[! $'\t\n\r']*}"}; [[ $rest ]]; do
    step=
    case $is_begun$rest in
      [12]//*) step=// rest=${rest:2} is_begun=0 ;;
      [12]\|*) step='|' rest=${rest:1} is_begun=0 ;;
      [12]\[\]*) step='*' rest=${rest:2} ;;
      [12]\[\"*)
        rest=${rest:1}
        [[ $rest =~ $text ]] || return 1
        string=${BASH_REMATCH[1]} rest=${rest:${#BASH_REMATCH[0]}}
        [[ $rest == \]* ]] || return 1
        rest=${rest:1}
        __mcpc_shortest || return 1
        step="k\"$string\""
        ;;
      [12]\[*)
        [[ $rest =~ $index && ${#BASH_REMATCH[1]} -lt 10 ]] || return 1
        rest=${rest:${#BASH_REMATCH[0]}} step=i${BASH_REMATCH[1]}
        ;;
      [02].[\[\"A-Za-z_]* | 1.[\"A-Za-z_\[]*)
        rest=${rest:1} is_begun=1
        case $rest in
          \[*) continue ;;
          \"*)
            [[ $rest =~ $text ]] || return 1
            string=${BASH_REMATCH[1]} rest=${rest:${#BASH_REMATCH[0]}}
            __mcpc_shortest || return 1
            ;;
          *)
            [[ $rest =~ $name ]] || return 1
            string=${BASH_REMATCH[0]} rest=${rest:${#BASH_REMATCH[0]}}
            ;;
        esac
        step="k\"$string\""
        ;;
      0..*) return 1 ;;
      0.*) rest=${rest:1} is_begun=2 ;;
      0*) __mcpc_term || return 1 ;;
      *) return 1 ;;
    esac
    while [[ $rest == \?* && ${step:0:1} == [ki*] ]]; do
      step="?${step#\?}" rest=${rest:1}
    done
    if [[ $step == [ki*?]* ]]; then is_begun=1; fi
    if [[ $step ]]; then steps+=("$step"); fi
  done
  ((is_begun))
}

# __mcpc_term: compiles a literal or a function at the beginning of $rest.
__mcpc_term() {
  is_begun=2
  if [[ $rest =~ $text ]]; then
    string=${BASH_REMATCH[1]} rest=${rest:${#BASH_REMATCH[0]}}
    __mcpc_shortest || return 1
    __mcpc_literal "\"$string\""
  elif [[ $rest =~ ^-?(0|[1-9][0-9]*)(\.[0-9]+)? ]]; then
    rest=${rest:${#BASH_REMATCH[0]}}
    __mcpc_literal "${BASH_REMATCH[0]}"
  elif [[ $rest == '[]'* || $rest == '{}'* ]]; then
    __mcpc_literal "${rest:0:1}" "${rest:1:1}"
    rest=${rest:2}
  elif [[ $rest =~ $name ]]; then
    rest=${rest:${#BASH_REMATCH[0]}}
    case ${BASH_REMATCH[0]} in
      true | false | null) __mcpc_literal "${BASH_REMATCH[0]}" ;;
      empty | length | type | not | tostring) step=f${BASH_REMATCH[0]} ;;
      *) return 1 ;;
    esac
  else
    return 1
  fi
}

# __mcpc_literal TOKEN…: puts a value into the table, where nothing refers to it but what is computed here.
__mcpc_literal() {
  local place=${#__mcpc_tokens[@]}
  __mcpc_tokens+=("$@")
  if (($# > 1)); then __mcpc_ends[place]=$((place + 1)); fi
  step="=$place"
}

# __mcpc_stage INPUT: sets $values to what a stage makes of it.
__mcpc_stage() {
  local step value status=0
  values=("$1")
  for step in "${stage[@]}"; do
    if ((status == 9)); then
      return 9
    elif [[ $step == // ]]; then
      local -a kept=()
      for value in "${values[@]}"; do
        if [[ ${__mcpc_tokens[value]} != @(null|false) ]]; then kept+=("$value"); fi
      done
      if ((${#kept[@]})); then
        values=("${kept[@]}")
        return 0
      fi
      values=("$1") status=0
    elif ((status == 0)); then
      __mcpc_step "$step" || status=$?
    fi
  done
  return "$status"
}

# __mcpc_step STEP: takes every value of $values through one step.
__mcpc_step() {
  local step=${1#\?} value status=0 __mcpc_at
  local -a found=() __mcpc_found
  for value in "${values[@]}"; do
    __mcpc_found=()
    case ${step:0:1}${__mcpc_tokens[value]} in
      [ki]null) __mcpc_null ;;
      k\{)
        __mcpc_member "$value" "${step:1}"
        if [[ $__mcpc_at ]]; then __mcpc_found=("$__mcpc_at"); else __mcpc_null; fi
        ;;
      i\[)
        __mcpc_children "$value"
        value=${step:1}
        ((value >= 0)) || ((value += ${#__mcpc_found[@]}))
        if ((value >= 0 && value < ${#__mcpc_found[@]})); then
          __mcpc_found=("${__mcpc_found[value]}")
        else
          __mcpc_null
        fi
        ;;
      \*[\[\{]) __mcpc_children "$value" ;;
      =*) __mcpc_found=("${step:1}") ;;
      f*) __mcpc_function "${step:1}" "$value" || status=$? ;;
      *) [[ $1 == \?* ]] || status=5 ;;
    esac
    ((status == 0)) || break
    found+=("${__mcpc_found[@]}")
  done
  values=("${found[@]}")
  return "$status"
}

__mcpc_null() {
  local step
  __mcpc_literal null
  __mcpc_found=("${step:1}")
}

# __mcpc_function NAME VALUE: sets __mcpc_found to what a function makes of a value; 5 if it cannot, 9 if we cannot.
__mcpc_function() {
  local token=${__mcpc_tokens[$2]} __mcpc_out step=
  case $1$token in
    empty*) return 0 ;;
    type\"*) __mcpc_literal '"string"' ;;
    type\{) __mcpc_literal '"object"' ;;
    type\[) __mcpc_literal '"array"' ;;
    typenull) __mcpc_literal '"null"' ;;
    typetrue | typefalse) __mcpc_literal '"boolean"' ;;
    type*) __mcpc_literal '"number"' ;;
    notnull | notfalse) __mcpc_literal true ;;
    not*) __mcpc_literal false ;;
    tostring\"*) step="=$2" ;;
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
      __mcpc_out=$token
      __mcpc_plain
      [[ $token != *'\u0000'* ]] || return 9
      __mcpc_out=${__mcpc_out//[$'\x80'-$'\xbf']/} # what goes on with a character
      __mcpc_literal "${#__mcpc_out}"
      ;;
    *) return 9 ;;
  esac
  __mcpc_found=("${step:1}")
}
