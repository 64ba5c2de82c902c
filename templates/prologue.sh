#!/bin/sh -
# A zip archive that Python runs, made by mcpc. These lines find a Python that is new enough and start it.
# shellcheck disable=SC2043,SC2093,SC2317,SC2329
mcpc_is_new_enough() {
  case $mcpc_python in # on macOS without its command line tools this is a window that asks to install them
    /usr/bin/python3) [ ! -e /usr/bin/xcode-select ] || /usr/bin/xcode-select -p >/dev/null 2>&1 || return 1 ;;
  esac
  "$mcpc_python" -ISc 'import sys; sys.exit(sys.version_info < (3, 11))' </dev/null >/dev/null 2>&1
}
mcpc_may_start() {
  [ -f "$mcpc_python" ] && [ -x "$mcpc_python" ] || return 1
  case $mcpc_python in
    [!/]*) return 1 ;;
    */shims/*) mcpc_is_new_enough ;;
    */EXACT) ;;
    *) mcpc_is_new_enough ;;
  esac
}
mcpc_start() {
  exec "$mcpc_python" -ISc "START" "$0" "$@"
}
IFS=:
set -f
for mcpc_name in NAMES; do
  mcpc_shims=
  for mcpc_folder in FOLDERS; do
    mcpc_python=$mcpc_folder/$mcpc_name
    case $mcpc_python in # a version manager's script is slow: first look for a Python that it would start
      SHIMS) [ ! -x "$mcpc_python" ] || mcpc_shims=$mcpc_shims$mcpc_python: ;;
      *) ! mcpc_may_start || mcpc_start "$@" ;;
    esac
  done
  for mcpc_shim in $mcpc_shims; do
    mcpc_folder=${mcpc_shim%/shims/*}
    set +f
    for mcpc_python in "$mcpc_folder"/versions/*/bin/"$mcpc_name" "$mcpc_folder"/installs/python/*/bin/"$mcpc_name" \
      "$mcpc_shim"; do
      ! mcpc_may_start || mcpc_start "$@"
    done
    set -f
  done
done
echo "this server needs REQUIRED" >&2; exit 8
