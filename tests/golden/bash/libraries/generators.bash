
render() {
  cat <<EOF >"$1"
#!/bin/bash
main() {
  echo "$(date +%s) $2" \
EOF
main "\$@"
EOF
}
template() { cat <<'A' - <<"B"
fake_a() { `unclosed "quote
A
fake_b() { $(unclosed
B
}
awk_report() {
  awk 'function total(x) { return x } { print total($1) }' "$1"
}
quoted() { echo "it's $(printf '%s' "a \"b\" $(echo "c)")") done"; }
math() { (( x = (1 << 3) | 0x10, y = 16#ff )); echo $(( x + ${#y} )) "$[ x << 1 ]"; }
