# shellcheck shell=bash
# JSON in Bash itself: strings are written, and texts are read into a table of tokens.
#
# Its law: no process is started, and a text that is read is JSON (RFC 8259) to its last byte or refused.  What was read
# is written compactly, strings in their shortest form, numbers as they came.  Above __mcpc_most bytes there are faster
# ways: lib/tools.sh knows them.  Names that begin with `__mcpc_` are ours; a function leaves its text in __mcpc_out.

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
  local IFS=' ' lines code char
  mapfile -t lines <<<"$__mcpc_out"
  lines=("${lines[@]//\\/\\\\}")
  lines=("${lines[@]//\"/\\\"}")
  if [[ ${lines[*]} == *[$'\x01'-$'\x1f']* ]]; then
    lines=("${lines[@]//$'\t'/\\t}")
    lines=("${lines[@]//$'\r'/\\r}")
    lines=("${lines[@]//$'\b'/\\b}")
    lines=("${lines[@]//$'\f'/\\f}")
    if [[ ${lines[*]} == *[$'\x01'-$'\x1f']* ]]; then
      for code in {1..31}; do
        printf -v code '\\u%04x' "$code"
        printf -v char '%b' "\\x${code:4}"
        lines=("${lines[@]//"$char"/"$code"}")
      done
    fi
  fi
  printf -v __mcpc_out '%s\\n' "${lines[@]}"
  __mcpc_out=${__mcpc_out%\\n}
}

# __mcpc_repair: what is not UTF-8 in __mcpc_out becomes U+FFFD.  To be called in the locale C, where Bash counts bytes.
__mcpc_repair() {
  local rest=$__mcpc_out
  if [[ $rest != *[$'\x80'-$'\xff']* || $rest =~ $__mcpc_utf8$ ]]; then return 0; fi
  __mcpc_out=
  while [[ $rest ]]; do
    if [[ $rest =~ $__mcpc_utf8 ]]; then
      __mcpc_out+=${BASH_REMATCH[0]}
      rest=${rest:${#BASH_REMATCH[0]}}
    else
      __mcpc_out+=$'\xef\xbf\xbd'
      rest=${rest:1}
    fi
  done
}

# __mcpc_read TEXT: reads the values of a text, one or several.  __mcpc_tokens are its tokens, a string with its quotes;
# __mcpc_ends has for a token that opens something where that ends; __mcpc_starts says where the values begin.  1 if
# TEXT is no JSON, 2 if an object has a name twice (then it is read all the same).
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
  local IFS='"' parts part string is_string=0
  # shellcheck disable=SC2206 # It is to be split.
  parts=($1" ")
  IFS=$' \t\n\r'
  for part in "${parts[@]}"; do
    if ((is_string == 0)); then
      case $part in
        : | , | '{' | '[') __mcpc_tokens+=("$part") ;;
        *)
          if [[ $part == *[$'\x01'-$'\x08'$'\x0b\x0c'$'\x0e'-$'\x1f']* ]]; then return 1; fi
          part=${part//,/ , }
          part=${part//:/ : }
          part=${part//\{/ { }
          part=${part//\}/ \} }
          part=${part//\[/ [ }
          # shellcheck disable=SC2206
          __mcpc_tokens+=(${part//\]/ ] })
          ;;
      esac
      is_string=1 string=
      continue
    fi
    string+=$part
    if [[ $part == *\\ ]]; then
      part=${part##*[!\\]}
      if ((${#part} % 2)); then
        string+=\"
        continue
      fi
    fi
    if [[ $string == *[\\$'\x01'-$'\x1f']* ]]; then __mcpc_shortest || return 1; fi
    __mcpc_tokens+=("\"$string\"")
    is_string=0
  done
  ((is_string))
}

# __mcpc_shortest: brings the escapes in $string of the caller into their shortest form; 1 if it cannot be in a string.
__mcpc_shortest() {
  if [[ $string == *[$'\x01'-$'\x1f']* || ! $string =~ $__mcpc_escapes ]]; then return 1; fi
  if [[ $string != *\\[u/]* ]]; then return 0; fi
  local rest=$string code low
  string=
  while [[ $rest == *\\* ]]; do
    string+=${rest%%\\*}
    rest=${rest#*\\}
    case $rest in
      u*)
        code=$((16#${rest:1:4})) low=0
        rest=${rest:5}
        if ((code >= 0xd800 && code < 0xdc00)) && [[ $rest == \\u[dD][c-fC-F]* ]]; then
          low=$((16#${rest:2:4}))
          rest=${rest:6}
          ((code = 0x10000 + (code - 0xd800 << 10) + low - 0xdc00))
        fi
        __mcpc_character "$code"
        ;;
      /*) string+=/ rest=${rest:1} ;;
      *) string+=\\${rest:0:1} rest=${rest:1} ;;
    esac
  done
  string+=$rest
}

# __mcpc_character CODE: adds a character to $string as it stands in a JSON string; half of a pair becomes U+FFFD.
__mcpc_character() {
  local code=$1 char
  if ((code >= 0xd800 && code < 0xe000)); then code=$((0xfffd)); fi
  if ((code < 0x20 || code == 0x22 || code == 0x5c)); then
    case $code in
      8) char=\\b ;; 9) char=\\t ;; 10) char=\\n ;; 12) char=\\f ;; 13) char=\\r ;; 34) char=\\\" ;; 92) char=\\\\ ;;
      *) printf -v char '\\u%04x' "$code" ;;
    esac
  elif ((code < 0x80)); then
    printf -v char '\\x%x' "$code"
    printf -v char '%b' "$char"
  elif ((code < 0x800)); then
    printf -v char '\\x%x' $((0xc0 | code >> 6)) $((0x80 | code & 63))
    printf -v char '%b' "$char"
  elif ((code < 0x10000)); then
    printf -v char '\\x%x' $((0xe0 | code >> 12)) $((0x80 | code >> 6 & 63)) $((0x80 | code & 63))
    printf -v char '%b' "$char"
  else
    printf -v char '\\x%x' $((0xf0 | code >> 18)) $((0x80 | code >> 12 & 63)) $((0x80 | code >> 6 & 63)) $((0x80 | code & 63))
    printf -v char '%b' "$char"
  fi
  string+=$char
}

# __mcpc_check: goes through the tokens.  $wants: t a value at the top, v one inside, V one or `]`, k a name or `}`, K a
# name, c a colon, n what comes after a value.
__mcpc_check() {
  local token wants=t index=-1 depth=0 at='' twice=0
  local -a open=()
  local -A names=()
  for token in "${__mcpc_tokens[@]}"; do
    index=$((index + 1))
    case $wants$token in
      c:) wants=v ;;
      [kK]\"*)
        if [[ ${names["$at$token"]-} ]]; then twice=2; fi
        names["$at$token"]=1 wants=c
        ;;
      [vV]\"* | [vV]true | [vV]false | [vV]null) wants=n ;;
      n,)
        if [[ ${__mcpc_tokens[at]} == \[ ]]; then wants=v; else wants=K; fi
        ;;
      [tvV][\[\{])
        if ((depth == 0)); then __mcpc_starts+=("$index"); fi
        open[depth++]=$index at=$index wants=V
        if [[ $token == \{ ]]; then wants=k; fi
        ;;
      k\} | V\] | n[]\}])
        if [[ ${__mcpc_tokens[at]}$token != @(\[\]|\{\}) ]]; then return 1; fi
        __mcpc_ends[at]=$index wants=n
        if ((--depth)); then at=${open[depth - 1]}; else wants=t; fi
        ;;
      t\"* | ttrue | tfalse | tnull) __mcpc_starts+=("$index") ;;
      [tvV]*)
        if [[ ! $token =~ $__mcpc_number ]]; then return 1; fi
        if [[ $wants == t ]]; then __mcpc_starts+=("$index"); else wants=n; fi
        ;;
      *) return 1 ;;
    esac
  done
  if [[ $wants != t ]]; then return 1; fi
  return "$twice"
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
  local rest=$__mcpc_out
  __mcpc_out=
  while [[ $rest == *'\u0000'* ]]; do # perhaps one, perhaps a backslash and `u0000`
    local before=${rest%%'\u0000'*} slashes
    slashes=${before##*[!\\]}
    if ((${#slashes} % 2)); then before+='\u0000'; fi
    rest=${rest#*'\u0000'}
    __mcpc_out+=$before
  done
  rest=$__mcpc_out$rest
  rest=${rest//'\"'/'"'} # the only escape of these that `%b` does not know
  printf -v __mcpc_out '%b' "$rest"
}

# __mcpc_member START NAME: sets __mcpc_at to where a member of the object at START begins, or to nothing; NAME is a
# token.  The last of two of one name counts.
__mcpc_member() {
  local index=$(($1 + 1)) end=${__mcpc_ends[$1]}
  __mcpc_at=
  while ((index < end)); do
    if [[ ${__mcpc_tokens[index]} == "$2" ]]; then __mcpc_at=$((index + 2)); fi
    index=$((${__mcpc_ends[index + 2]-index + 2} + 2))
  done
}

# __mcpc_children START: sets __mcpc_found to where the items of an array begin, or the values of an object.
__mcpc_children() {
  local index=$(($1 + 1)) end=${__mcpc_ends[$1]} skip=0
  if [[ ${__mcpc_tokens[$1]} == \{ ]]; then skip=2; fi
  __mcpc_found=()
  while ((index < end)); do
    __mcpc_found+=("$((index + skip))")
    index=$((${__mcpc_ends[index + skip]-index + skip} + 2))
  done
}

# __mcpc_path PATH: sets __mcpc_at to where the value at a path such as .a.b begins in the one value that was read, or
# to nothing if there is none; 5 if something on the way has no members.
__mcpc_path() {
  local name rest=$1
  __mcpc_at=${__mcpc_starts[0]}
  while [[ $rest && $__mcpc_at ]]; do
    rest=${rest#.}
    name=${rest%%.*}
    rest=${rest#"$name"}
    case ${__mcpc_tokens[__mcpc_at]} in
      \{) __mcpc_member "$__mcpc_at" "\"$name\"" ;;
      null) __mcpc_at= ;;
      *) return 5 ;;
    esac
  done
}
