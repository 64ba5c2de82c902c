"""Search for programs that Bash libraries call and that may be missing on a system; the libraries are not run.

A command is a program if no function, builtin or keyword has its name.  One that a library looks up first (`command -v
jq`) may be missing.  If a library has definitions that cannot be seen (`source`, `eval`), only well-known programs
count.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpc.diagnostics import Span
from mcpc.languages.bash.lexer import scan_library

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from mcpc.model.ir import Server
    from mcpc.reading import Source

COMMAND = re.compile(r"[A-Za-z_][A-Za-z0-9_.+-]*(?=[\s;|&)<>`]|\Z)")
# The name of a program of which the library finds out whether there is one.
LOOKED_FOR = re.compile(r"\b(?:command\s+-[vV]|type(?:\s+-\w+)?|hash|which)\s+(?:--\s+)?[\"']?([A-Za-z0-9_.+-]+)")
OPENING = frozenset({"source", ".", "eval", "alias"})
PREFIX = "mcpc_"
OURS = (
    "mcpc_ask",
    "mcpc_call",
    "mcpc_changed",
    "mcpc_elicit",
    "mcpc_json_string",
    "mcpc_log",
    "mcpc_progress",
    "mcpc_updated",
)
"""The functions that every library has (`templates/notes.bash`)."""
MCBOX_WORDS = """
echo_stderr is_cmd_available is_json_object is_non_empty_dir is_readable_file is_valid_json json_merge_objects
json_object_has_key json_read_file jsonschema_validate_schema jsonschema_validate_value log log_debug log_error
log_fatal
log_info log_level_to_num log_trace log_warn mcbox_get_config_home mcbox_get_data_home mcp_create_text_content_object
text_trim
"""
MCBOX = frozenset(MCBOX_WORDS.split())
"""The functions of mcbox that every library has (`templates/mcbox.bash`)."""
BUILTINS_WORDS = """
alias bg bind break builtin caller cd command compgen complete compopt continue coproc declare dirs disown echo
enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf
pushd pwd read readarray readonly return select set shift shopt source suspend test time times trap true type
typeset ulimit umask unalias unset wait if then else elif fi case esac for while until do done in function
"""
BUILTINS = frozenset(BUILTINS_WORDS.split())
EVERYWHERE_WORDS = """
[ ar arch at awk b2sum base32 base64 basename basenc batch bc bash cal cat chcon chgrp chmod chown chroot cksum
clear cmp comm compress cp crontab csplit cut date dd df diff dir dircolors dirname du ed egrep env ex expand expr
factor fgrep file find flock fmt fold free fuser getconf getent getopt grep groups gunzip gzip head hexdump hostid
hostname iconv id install ionice ipcrm ipcs join kill less link ln locale localedef logger login logname ls lsof m4
mail man md5sum mesg mkdir mkfifo mknod mktemp mktime more mount mv newgrp nice nl nohup nproc numfmt od paste patch
pathchk pax pgrep pidof ping pinky pkill pr ps ptx pwdx readlink realpath renice rev rm rmdir runcon sed seq setsid
sh sha1sum sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split stat stdbuf strings stty su sum sync
sysctl tabs tac tail tar tee time timeout top touch tput tr truncate tsort tty umount uname uncompress unexpand uniq
unlink unxz unzip uptime users uudecode uuencode vdir vi watch wc whereis which who whoami write xargs xz yes zcat
zip
"""
EVERYWHERE = frozenset(EVERYWHERE_WORDS.split())
"""The utilities of POSIX, coreutils, and base packages of distributions."""
WELL_KNOWN_WORDS = """
aws az bat cargo curl dig docker exiftool fd ffmpeg ffprobe gcloud gh git go gpg helm htmlq http identify
inotifywait java jq kubectl magick make mysql nc node npm npx nmap openssl pandoc pdftotext perl php pip pipx podman
psql pup python python2 python3 redis-cli rg rsync ruby scp shellcheck socat sqlite3 ssh sudo terraform tesseract
tmux tree uv wget whois xmllint xmlstarlet xsltproc yq yt-dlp
"""
WELL_KNOWN = frozenset(WELL_KNOWN_WORDS.split())


def undeclared_programs(server: Server) -> dict[str, Span]:
    """Return the programs that the Bash libraries of a server call and that no definition declares."""
    libraries = [file.source for file in server.files if file.source.path in server.shell]
    declared = {item.command for each in server.definitions for item in each.running.requires}
    return called_programs(libraries, declared) if libraries else {}


def called_programs(libraries: Sequence[Source], declared: Collection[str]) -> dict[str, Span]:
    """Return the undeclared programs that libraries call, each with its first span: linear in the texts."""
    programs: dict[str, Span] = {}
    absent: set[str] = {*declared, *BUILTINS, *EVERYWHERE, *MCBOX}
    is_open = False
    for source in libraries:
        text = source.text
        seen = scan_library(text)
        absent |= {word.text for word in seen.functions} | set(LOOKED_FOR.findall(text))
        for name, start in _commands(text, sorted(seen.begun)):
            is_open |= name in OPENING
            programs.setdefault(name, Span(source.path, start, start + len(name)))
    if is_open:
        programs = {name: span for name, span in programs.items() if name in WELL_KNOWN}
    return {name: span for name, span in programs.items() if name not in absent and not name.startswith(PREFIX)}


def misspelt_functions(libraries: Sequence[Source]) -> dict[str, Span]:
    """Return commands with our prefix that do not exist, each with its first span."""
    known = {*OURS, *(word.text for source in libraries for word in scan_library(source.text).functions)}
    functions: dict[str, Span] = {}
    for source in libraries:
        for name, start in (
            _commands(source.text, sorted(scan_library(source.text).begun)) if PREFIX in source.text else ()
        ):
            if name.startswith(PREFIX) and name not in known:
                functions.setdefault(name, Span(source.path, start, start + len(name)))
    return functions


def _commands(text: str, places: list[int]) -> Iterator[tuple[str, int]]:
    for place in places:
        # COMMAND matches only names, and `.` reads a file as `source` does.
        if text.startswith(". ", place):
            yield ".", place
        match = COMMAND.match(text, place)
        if match:
            yield match[0], place
