#!/bin/sh -
# A zip archive that Python runs, made by mcpc. These lines find a Python that is new enough and start it.
# shellcheck disable=SC2043,SC2093
mcpc_is_new_enough() {
  case $mcpc_python in # on macOS without its command line tools this is a window that asks to install them
    /usr/bin/python3) [ ! -e /usr/bin/xcode-select ] || /usr/bin/xcode-select -p >/dev/null 2>&1 || return 1 ;;
  esac
  "$mcpc_python" -ISc 'import sys; sys.exit(sys.version_info < (3, 11))' </dev/null >/dev/null 2>&1
}
IFS=:
set -f
for mcpc_name in NAMES; do
  for mcpc_folder in FOLDERS; do
    mcpc_python=$mcpc_folder/$mcpc_name
    if [ ! -f "$mcpc_python" ] || [ ! -x "$mcpc_python" ]; then continue; fi
    case $mcpc_python in
      [!/]*) continue ;;
      */shims/*) mcpc_is_new_enough || continue ;;
      */EXACT) ;;
      *) mcpc_is_new_enough || continue ;;
    esac
    exec "$mcpc_python" -ISc "START" "$0" "$@"
  done
done
echo "this server needs REQUIRED" >&2; exit 8
