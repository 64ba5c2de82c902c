#!/bin/sh -
# A server with its own Python, made by mcpc. These lines unpack that Python once and start the archive behind it.
# The folder that it is unpacked to is named by a digest; it is used only if other users can neither change nor replace it.
# shellcheck disable=SC2012,SC2195
mcpc_refuse() {
  echo "this server cannot start: $1" >&2
  exit 8
}
mcpc_refuse_folder() {
  mcpc_refuse "$1; set MCPC_RUNTIME_CACHE to a folder that only you can write to"
}
mcpc_is_own_group() {
  [ "$1" = "$(id -g)" ] && [ "$(id -gn)" = "$(id -un)" ]
}
mcpc_check() { # FOLDER...: each belongs to this user or to root, and others can neither write to it nor replace it
  ls -ldn "$@" 2>/dev/null | while read -r mcpc_mode _ mcpc_owner mcpc_group _; do
    [ "$mcpc_owner" = 0 ] || [ "$mcpc_owner" = "$mcpc_user" ] || exit 1
    case $mcpc_mode in
      d????????[tT]*) ;;
      d???????w*) exit 1 ;;
      d????w*) mcpc_is_own_group "$mcpc_group" || exit 1 ;;
      d*) ;;
      *) exit 1 ;;
    esac
  done
}
mcpc_need() { # PROGRAM...: these are on PATH
  for mcpc_tool; do
    command -v "$mcpc_tool" >/dev/null || mcpc_refuse "there is no \`$mcpc_tool\`, which it needs to unpack its Python"
  done
}
mcpc_unpack() (
  umask 077 # what others could change is not started
  mcpc_need gzip head mktemp rm tail tar uname
  case "$(uname -s) $(uname -m)" in
    SYSTEM) ;;
    *) mcpc_refuse "it is for TARGET, and this is $(uname -s) on $(uname -m)" ;;
  esac
  mcpc_new=$(mktemp -d "$mcpc_root/.new-XXXXXX") || mcpc_refuse_folder "$mcpc_root cannot be written"
  trap 'rm -rf "$mcpc_new"' EXIT
  trap 'exit 8' HUP INT TERM
  # Those that were killed while they unpacked have left theirs.
  find "$mcpc_root" -maxdepth 1 -name '.new-*' -mmin +60 -exec rm -rf {} + 2>/dev/null
  tail -c +START "$0" | head -c LENGTH | gzip -dc 2>/dev/null | (cd "$mcpc_new" && tar -xf - 2>/dev/null) ||
    mcpc_refuse "its Python cannot be unpacked: copy or download $0 again, and look for free space in $mcpc_root"
  "$mcpc_new/PYTHON" -I -S -B "$mcpc_new/verify.py" "$mcpc_root/DIGEST" ||
    mcpc_refuse "its Python is damaged, or does not run on this system: copy or download $0 again"
)
mcpc_need id ls mkdir
mcpc_user=$(id -u)
case ${MCPC_RUNTIME_CACHE-}:${XDG_CACHE_HOME-}:${HOME-} in
  /*) mcpc_root=$MCPC_RUNTIME_CACHE ;;
  [!:]*) mcpc_root=$PWD/$MCPC_RUNTIME_CACHE ;;
  :/*) mcpc_root=$XDG_CACHE_HOME/mcpc/python ;;
  :*:/*) mcpc_root=$HOME/.cache/mcpc/python ;;
  *) mcpc_root=${TMPDIR:-/tmp}/mcpc-$mcpc_user/python ;;
esac
(umask 077 && mkdir -p "$mcpc_root") 2>/dev/null || mcpc_refuse_folder "$mcpc_root cannot be made"
mcpc_root=$(cd -P -- "$mcpc_root" && pwd -P) || mcpc_refuse_folder "$mcpc_root cannot be entered"
mcpc_is_private() { # FOLDER...: these, and all folders from the root of the file system to that of the cache
  mcpc_above=$mcpc_root
  while [ -n "$mcpc_above" ]; do
    set -- "$mcpc_above" "$@"
    mcpc_above=${mcpc_above%/*}
  done
  mcpc_check / "$@"
}
mcpc_renew() { # unpack into a cache that only this user can change
  mcpc_is_private || mcpc_refuse_folder "other users can change $mcpc_root or a folder above it"
  rm -rf "$mcpc_root/DIGEST" || mcpc_refuse_folder "$mcpc_root/DIGEST cannot be removed"
  mcpc_unpack || exit 8
}
[ -d "$mcpc_root/DIGEST" ] || mcpc_renew
mcpc_is_private "$mcpc_root/DIGEST" || {
  mcpc_renew # it was unpacked so that others can change it
  mcpc_is_private "$mcpc_root/DIGEST" || mcpc_refuse_folder "other users can change $mcpc_root/DIGEST"
}
exec "$mcpc_root/DIGEST/PYTHON" -ISc "BOOT" "$0" "$@"
exit 8
