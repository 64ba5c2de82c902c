# shellcheck shell=bash
# JSON in Bash itself: strings are written, and texts are read into a table of tokens.
#
# Rule: no process is started, and a text that is read is JSON (RFC 8259) to its last byte or refused.  What was read
# is written compactly, strings in their shortest form, numbers as they came.  Above __mcpc_most bytes there are faster
# ways: lib/tools.sh knows them.  Names that begin with `__mcpc_` are ours, and functions have no variables of other
# names but IFS and LC_ALL, for a script may make its own read-only; a function leaves its text in __mcpc_out.

__mcpc_most=2048 __mcpc_locale='' __mcpc_letter=$'\xc3\xa9'
__mcpc_tokens=() __mcpc_starts=() __mcpc_ends=() __mcpc_read_text='' __mcpc_read_status=0 __mcpc_read_count=0
__mcpc_utf8=$'^([\x01-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}'
__mcpc_utf8+=$'|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}'
__mcpc_utf8+=$'|\xf4[\x80-\x8f][\x80-\xbf]{2})+'
__mcpc_number='^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$'
__mcpc_escapes='^([^\\]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*$'
# An object of texts without escapes, numbers and constants, as it is written without blanks: most arguments are one.
__mcpc_flat='"[^"\\[:cntrl:]]*":("[^"\\[:cntrl:]]*"|-?(0|[1-9][0-9]*)(\.[0-9]+)?|true|false|null)'
__mcpc_flat="^\{($__mcpc_flat(,$__mcpc_flat)*)?\}\$" __mcpc_flat_text='{}'

# __mcpc_is_quiet: tells whether the locale can be C for a while: Bash complains when it cannot go back to that of LC_ALL.
__mcpc_is_quiet() {
  if [ "${LC_ALL-}" = "$__mcpc_locale" ] || [ "$LC_ALL" = C ] || [ "$LC_ALL" = POSIX ]; then return 0; fi
  __mcpc_in_c 2>/dev/null
  if ((${#__mcpc_letter} > 1)); then return 1; fi # where it went back, and to UTF-8, that is one
  __mcpc_locale=$LC_ALL
}
__mcpc_in_c() { local LC_ALL=C; }

# __mcpc_string TEXT: sets __mcpc_out to TEXT as a JSON string.
__mcpc_string() {
  __mcpc_out=$1
  if [[ $1 == *[\\\"[:cntrl:]]* || $1 == *[![:ascii:]]* ]]; then __mcpc_escape; fi
  __mcpc_out="\"$__mcpc_out\""
}

# __mcpc_escape: escapes __mcpc_out.
__mcpc_escape() {
  local LC_ALL=C
  __mcpc_repair
  if ((${#__mcpc_out} > 512)) || [[ $__mcpc_out == *[$'\x01'-$'\x1f']* ]]; then
    __mcpc_escape_lines
  else
    __mcpc_out=${__mcpc_out//\\/\\\\}
    __mcpc_out=${__mcpc_out//\"/\\\"}
  fi
}

# By lines, for a substitution in one long text takes Bash 4.4 the square of its length.
__mcpc_escape_lines() {
  local IFS=' ' __mcpc_lines __mcpc_code __mcpc_char
  mapfile -t __mcpc_lines <<<"$__mcpc_out"
  __mcpc_lines=("${__mcpc_lines[@]//\\/\\\\}")
  __mcpc_lines=("${__mcpc_lines[@]//\"/\\\"}")
  if [[ ${__mcpc_lines[*]} == *[$'\x01'-$'\x1f']* ]]; then
    __mcpc_lines=("${__mcpc_lines[@]//$'\t'/\\t}")
    __mcpc_lines=("${__mcpc_lines[@]//$'\r'/\\r}")
    __mcpc_lines=("${__mcpc_lines[@]//$'\b'/\\b}")
    __mcpc_lines=("${__mcpc_lines[@]//$'\f'/\\f}")
    if [[ ${__mcpc_lines[*]} == *[$'\x01'-$'\x1f']* ]]; then
      for __mcpc_code in {1..31}; do
        printf -v __mcpc_code '\\u%04x' "$__mcpc_code"
        printf -v __mcpc_char '%b' "\\x${__mcpc_code:4}"
        __mcpc_lines=("${__mcpc_lines[@]//"$__mcpc_char"/"$__mcpc_code"}")
      done
    fi
  fi
  printf -v __mcpc_out '%s\\n' "${__mcpc_lines[@]}"
  __mcpc_out=${__mcpc_out%\\n}
}

# __mcpc_repair: what is not UTF-8 in __mcpc_out becomes U+FFFD.  To be called in the locale C, where Bash counts bytes.
__mcpc_repair() {
  local __mcpc_rest=$__mcpc_out
  if [[ $__mcpc_rest != *[$'\x80'-$'\xff']* || $__mcpc_rest =~ $__mcpc_utf8$ ]]; then return 0; fi
  __mcpc_out=
  while [[ $__mcpc_rest ]]; do
    if [[ $__mcpc_rest =~ $__mcpc_utf8 ]]; then
      __mcpc_out+=${BASH_REMATCH[0]}
      __mcpc_rest=${__mcpc_rest:${#BASH_REMATCH[0]}}
    else
      __mcpc_out+=$'\xef\xbf\xbd'
      __mcpc_rest=${__mcpc_rest:1}
    fi
  done
}

# __mcpc_read TEXT: reads the values of a text, one or several.  __mcpc_tokens are its tokens, a string with its quotes;
# __mcpc_ends has for a token that opens something where that ends; __mcpc_starts says where the values begin.  1 if
# TEXT is not JSON, 2 if an object has a name twice (then it is read anyway).
__mcpc_read() {
  if [ "$1" = "$__mcpc_read_text" ]; then
    while ((${#__mcpc_tokens[@]} > __mcpc_read_count)); do # what a filter put there
      unset '__mcpc_tokens[-1]'
      unset "__mcpc_ends[${#__mcpc_tokens[@]}]"
    done
    return "$__mcpc_read_status"
  fi
  if shopt -q nocasematch; then # for which `TRUE` would be `true`
    shopt -u nocasematch
    __mcpc_read "$1" || :
    shopt -s nocasematch
    return "$__mcpc_read_status"
  fi
  local - LC_ALL=C __mcpc_out=$1
  set +eux -f
  __mcpc_tokens=() __mcpc_starts=() __mcpc_ends=() __mcpc_read_status=0
  __mcpc_repair
  __mcpc_cut "$__mcpc_out" && __mcpc_check || __mcpc_read_status=$?
  __mcpc_read_text=$1 __mcpc_read_count=${#__mcpc_tokens[@]}
  return "$__mcpc_read_status"
}

# __mcpc_is_flat TEXT: tells whether it is a short object that needs no reading; __mcpc_flat_text is the last one that was.
__mcpc_is_flat() {
  if [ "$1" = "$__mcpc_flat_text" ]; then return 0; fi
  if shopt -q nocasematch; then return 1; fi
  local LC_ALL=C
  [[ ${#1} -lt 1024 && $1 =~ $__mcpc_flat ]] && [[ $1 != *[$'\x80'-$'\xff']* || $1 =~ $__mcpc_utf8$ ]] || return 1
  __mcpc_flat_text=$1
}

# __mcpc_quick TEXT NAME: sets __mcpc_out to a member of a flat object, null if there is none.
__mcpc_quick() {
  local LC_ALL=C
  __mcpc_out=${1##*[\{,]\""$2"\":}
  case $__mcpc_out in
    "$1") __mcpc_out=null ;;
    \"*)
      __mcpc_out=${__mcpc_out:1}
      __mcpc_out=\"${__mcpc_out%%\"*}\"
      ;;
    *) __mcpc_out=${__mcpc_out%%[,\}]*} ;;
  esac
}

# __mcpc_cut TEXT: cuts it at its quotes, which takes time in proportion to it, and what is between strings into tokens.
__mcpc_cut() {
  local IFS='"' __mcpc_parts __mcpc_part __mcpc_string __mcpc_is_string=0
  # shellcheck disable=SC2206 # It is to be split.
  __mcpc_parts=($1" ")
  IFS=$' \t\n\r'
  for __mcpc_part in "${__mcpc_parts[@]}"; do
    if ((__mcpc_is_string == 0)); then
      case $__mcpc_part in
        : | , | '{' | '[') __mcpc_tokens+=("$__mcpc_part") ;;
        *)
          if [[ $__mcpc_part == *[$'\x01'-$'\x08'$'\x0b\x0c'$'\x0e'-$'\x1f']* ]]; then return 1; fi
          __mcpc_part=${__mcpc_part//,/ , }
          __mcpc_part=${__mcpc_part//:/ : }
          __mcpc_part=${__mcpc_part//\{/ { }
          __mcpc_part=${__mcpc_part//\}/ \} }
          __mcpc_part=${__mcpc_part//\[/ [ }
          # shellcheck disable=SC2206
          __mcpc_tokens+=(${__mcpc_part//\]/ ] })
          ;;
      esac
      __mcpc_is_string=1 __mcpc_string=
      continue
    fi
    __mcpc_string+=$__mcpc_part
    if [[ $__mcpc_part == *\\ ]]; then
      __mcpc_part=${__mcpc_part##*[!\\]}
      if ((${#__mcpc_part} % 2)); then
        __mcpc_string+=\"
        continue
      fi
    fi
    if [[ $__mcpc_string == *[\\$'\x01'-$'\x1f']* ]]; then __mcpc_shortest || return 1; fi
    __mcpc_tokens+=("\"$__mcpc_string\"")
    __mcpc_is_string=0
  done
  ((__mcpc_is_string))
}

# __mcpc_shortest: brings the escapes in $__mcpc_string of the caller into their shortest form; 1 if it cannot be in a
# string.
__mcpc_shortest() {
  if [[ $__mcpc_string == *[$'\x01'-$'\x1f']* || ! $__mcpc_string =~ $__mcpc_escapes ]]; then return 1; fi
  if [[ $__mcpc_string != *\\[u/]* ]]; then return 0; fi
  local __mcpc_rest=$__mcpc_string __mcpc_code __mcpc_low
  __mcpc_string=
  while [[ $__mcpc_rest == *\\* ]]; do
    __mcpc_string+=${__mcpc_rest%%\\*}
    __mcpc_rest=${__mcpc_rest#*\\}
    case $__mcpc_rest in
      u*)
        __mcpc_code=$((16#${__mcpc_rest:1:4})) __mcpc_low=0
        __mcpc_rest=${__mcpc_rest:5}
        if ((__mcpc_code >= 0xd800 && __mcpc_code < 0xdc00)) && [[ $__mcpc_rest == \\u[dD][c-fC-F]* ]]; then
          __mcpc_low=$((16#${__mcpc_rest:2:4}))
          __mcpc_rest=${__mcpc_rest:6}
          ((__mcpc_code = 0x10000 + (__mcpc_code - 0xd800 << 10) + __mcpc_low - 0xdc00))
        fi
        __mcpc_character "$__mcpc_code"
        ;;
      /*) __mcpc_string+=/ __mcpc_rest=${__mcpc_rest:1} ;;
      *) __mcpc_string+=\\${__mcpc_rest:0:1} __mcpc_rest=${__mcpc_rest:1} ;;
    esac
  done
  __mcpc_string+=$__mcpc_rest
}

# __mcpc_character CODE: adds a character to $__mcpc_string as it stands in a JSON string; half of a pair becomes
# U+FFFD.
__mcpc_character() {
  local __mcpc_code=$1 __mcpc_char
  if ((__mcpc_code >= 0xd800 && __mcpc_code < 0xe000)); then __mcpc_code=$((0xfffd)); fi
  if ((__mcpc_code < 0x20 || __mcpc_code == 0x22 || __mcpc_code == 0x5c)); then
    case $__mcpc_code in
      8) __mcpc_char=\\b ;; 9) __mcpc_char=\\t ;; 10) __mcpc_char=\\n ;; 12) __mcpc_char=\\f ;;
      13) __mcpc_char=\\r ;; 34) __mcpc_char=\\\" ;; 92) __mcpc_char=\\\\ ;;
      *) printf -v __mcpc_char '\\u%04x' "$__mcpc_code" ;;
    esac
  elif ((__mcpc_code < 0x80)); then
    printf -v __mcpc_char '\\x%x' "$__mcpc_code"
    printf -v __mcpc_char '%b' "$__mcpc_char"
  elif ((__mcpc_code < 0x800)); then
    printf -v __mcpc_char '\\x%x' $((0xc0 | __mcpc_code >> 6)) $((0x80 | __mcpc_code & 63))
    printf -v __mcpc_char '%b' "$__mcpc_char"
  elif ((__mcpc_code < 0x10000)); then
    printf -v __mcpc_char '\\x%x' \
      $((0xe0 | __mcpc_code >> 12)) $((0x80 | __mcpc_code >> 6 & 63)) $((0x80 | __mcpc_code & 63))
    printf -v __mcpc_char '%b' "$__mcpc_char"
  else
    printf -v __mcpc_char '\\x%x' $((0xf0 | __mcpc_code >> 18)) $((0x80 | __mcpc_code >> 12 & 63)) \
      $((0x80 | __mcpc_code >> 6 & 63)) $((0x80 | __mcpc_code & 63))
    printf -v __mcpc_char '%b' "$__mcpc_char"
  fi
  __mcpc_string+=$__mcpc_char
}

# __mcpc_check: goes through the tokens.  $__mcpc_wants: t a value at the top, v one inside, V one or `]`, k a name or
# `}`, K a name, c a colon, n what comes after a value.
__mcpc_check() {
  local __mcpc_token __mcpc_wants=t __mcpc_index=-1 __mcpc_depth=0 __mcpc_inside='' __mcpc_twice=0
  local -a __mcpc_open=()
  local -A __mcpc_names=()
  for __mcpc_token in "${__mcpc_tokens[@]}"; do
    __mcpc_index=$((__mcpc_index + 1))
    case $__mcpc_wants$__mcpc_token in
      c:) __mcpc_wants=v ;;
      [kK]\"*)
        if [[ ${__mcpc_names["$__mcpc_inside$__mcpc_token"]-} ]]; then __mcpc_twice=2; fi
        __mcpc_names["$__mcpc_inside$__mcpc_token"]=1 __mcpc_wants=c
        ;;
      [vV]\"* | [vV]true | [vV]false | [vV]null) __mcpc_wants=n ;;
      n,)
        if [[ ${__mcpc_tokens[__mcpc_inside]} == \[ ]]; then __mcpc_wants=v; else __mcpc_wants=K; fi
        ;;
      [tvV][\[\{])
        if ((__mcpc_depth == 0)); then __mcpc_starts+=("$__mcpc_index"); fi
        __mcpc_open[__mcpc_depth++]=$__mcpc_index __mcpc_inside=$__mcpc_index __mcpc_wants=V
        if [[ $__mcpc_token == \{ ]]; then __mcpc_wants=k; fi
        ;;
      k\} | V\] | n[]\}])
        if [[ ${__mcpc_tokens[__mcpc_inside]}$__mcpc_token != @(\[\]|\{\}) ]]; then return 1; fi
        __mcpc_ends[__mcpc_inside]=$__mcpc_index __mcpc_wants=n
        if ((--__mcpc_depth)); then __mcpc_inside=${__mcpc_open[__mcpc_depth - 1]}; else __mcpc_wants=t; fi
        ;;
      t\"* | ttrue | tfalse | tnull) __mcpc_starts+=("$__mcpc_index") ;;
      [tvV]*)
        if [[ ! $__mcpc_token =~ $__mcpc_number ]]; then return 1; fi
        if [[ $__mcpc_wants == t ]]; then __mcpc_starts+=("$__mcpc_index"); else __mcpc_wants=n; fi
        ;;
      *) return 1 ;;
    esac
  done
  if [[ $__mcpc_wants != t ]]; then return 1; fi
  return "$__mcpc_twice"
}

# __mcpc_value START: sets __mcpc_out to the value that begins at a token.
__mcpc_value() {
  local IFS=
  __mcpc_out="${__mcpc_tokens[*]:$1:${__mcpc_ends[$1]-$1} - $1 + 1}"
}

# __mcpc_plain: takes a JSON string in __mcpc_out for the text it stands for; a null byte in it is left out.
__mcpc_plain() {
  __mcpc_out=${__mcpc_out:1:${#__mcpc_out} - 2}
  if [[ $__mcpc_out != *\\* ]]; then return 0; fi
  local __mcpc_rest=$__mcpc_out
  __mcpc_out=
  while [[ $__mcpc_rest == *'\u0000'* ]]; do # perhaps one, perhaps a backslash and `u0000`
    local __mcpc_before=${__mcpc_rest%%'\u0000'*} __mcpc_slashes
    __mcpc_slashes=${__mcpc_before##*[!\\]}
    if ((${#__mcpc_slashes} % 2)); then __mcpc_before+='\u0000'; fi
    __mcpc_rest=${__mcpc_rest#*'\u0000'}
    __mcpc_out+=$__mcpc_before
  done
  __mcpc_rest=$__mcpc_out$__mcpc_rest
  __mcpc_rest=${__mcpc_rest//'\"'/'"'} # the only escape of these that `%b` does not know
  printf -v __mcpc_out '%b' "$__mcpc_rest"
}

# __mcpc_member START NAME: sets __mcpc_at to where a member of the object at START begins, or to nothing; NAME is a
# token.  The last of two of one name counts.
__mcpc_member() {
  local __mcpc_index=$(($1 + 1)) __mcpc_end=${__mcpc_ends[$1]}
  __mcpc_at=
  while ((__mcpc_index < __mcpc_end)); do
    if [[ ${__mcpc_tokens[__mcpc_index]} == "$2" ]]; then __mcpc_at=$((__mcpc_index + 2)); fi
    __mcpc_index=$((${__mcpc_ends[__mcpc_index + 2]-__mcpc_index + 2} + 2))
  done
}

# __mcpc_children START: sets __mcpc_found to where the items of an array begin, or the values of an object.
__mcpc_children() {
  local __mcpc_index=$(($1 + 1)) __mcpc_end=${__mcpc_ends[$1]} __mcpc_skip=0
  if [[ ${__mcpc_tokens[$1]} == \{ ]]; then __mcpc_skip=2; fi
  __mcpc_found=()
  while ((__mcpc_index < __mcpc_end)); do
    __mcpc_found+=("$((__mcpc_index + __mcpc_skip))")
    __mcpc_index=$((${__mcpc_ends[__mcpc_index + __mcpc_skip]-__mcpc_index + __mcpc_skip} + 2))
  done
}

# __mcpc_path PATH: sets __mcpc_at to where the value at a path such as .a.b begins in the one value that was read, or
# to nothing if there is none; 5 if something on the way has no members.
__mcpc_path() {
  local __mcpc_name __mcpc_rest=$1
  __mcpc_at=${__mcpc_starts[0]}
  while [[ $__mcpc_rest && $__mcpc_at ]]; do
    __mcpc_rest=${__mcpc_rest#.}
    __mcpc_name=${__mcpc_rest%%.*}
    __mcpc_rest=${__mcpc_rest#"$__mcpc_name"}
    case ${__mcpc_tokens[__mcpc_at]} in
      \{) __mcpc_member "$__mcpc_at" "\"$__mcpc_name\"" ;;
      null) __mcpc_at= ;;
      *) return 5 ;;
    esac
  done
}
