
function dashed-name() { :; }; dotted.name () { :; }
ns::name()
{
  inner() { echo "defined when called"; }
  local -a words=(one "two )" $'thr\'ee' [5]=six)
  for word in "${words[@]}"; do [ -n "$word" ] || continue; done
}
(in_subshell() { :; })
value=$(in_substitution() { :; }; in_substitution)
: "$(in_quotes() { :; })" `in_backquotes() { :; }`
looped() for ((i=0; i<3; i++)); do echo $i; done
chosen() if [ -t 0 ]; then echo tty; fi
counted() ((count++))
tested() [[ -e $1 && ( -r $1 || -w $1 ) ]]
parallel() { coproc WORKER { cat; }; { echo x; } >&"${WORKER[1]}"; }
unset -v value
export -f -- looped chosen
