"""Error messages and notes of the commands, as templates; the help of an option is defined with the option."""

from __future__ import annotations

ADDRESS_EXPECTED = "expected PORT or HOST:PORT, with a port from 1 to {most}"
ALREADY_EXISTS = "{path} already exists; expected a new or an empty folder"
DOCUMENT_EXPECTED = "expected an API document with `--template openapi`, and only with it: mcpc new PROJECT FILE"
NO_DOCUMENT = "{path} is not an API document: expected OpenAPI 3 or Swagger 2.0, as JSON or YAML"
OUTPUT_EXISTS = "{path} already exists; remove it, or name another folder with `-o`"
BUILT_WITHOUT_HTTP = "{path} was built without HTTP support; build it with `mcpc build --http`"
BUILT_WITHOUT_REDIS = "{path} was built without Redis support; for --valkey build it with `mcpc build --http --redis`"
CANNOT_LISTEN = "cannot listen on {address}: {problem}"
CANNOT_READ = "{path} cannot be read: {problem}"
NOT_AS_BUILT = "its archive has bytes that no build writes; `mcpc attest verify` compares it with its project"
CANNOT_WRITE = "cannot write {path}: {problem}"
COVERAGE_TOO_LOW = "coverage is {found:.1f} %; expected at least {least:g} %"
CONVERTED = "{path}: converted to the native format"
DECLARED_OPTIONS = "`options` of `[tool.mcpc.release]`: {problem}"
DAMAGED = "{path} was not built by mcpc, or is damaged"
ENCRYPTION_EXPECTED = "{address} is not encrypted, and headers may be secrets; expected an https address"
EXE_OR_SELF_CONTAINED = "--exe is a program that finds Python; a self-contained file for Windows is one without --exe"
FAILED_TEST_START = "Error: the built file failed its test start: {problem}"
FILE_EXPECTED = "{path} is {kind}; expected the name of a file to write"
FILE_OR_URL = "expected a file or project, or --url or --command, not both"
FILE_OF_PROJECT = "{path} is a file of the project; use another name for the built file"
FUZZED = "fuzzing: {count} tools, {examples} arguments each, seed {seed}, in {ways} of 4 ways"
HYPOTHESIS_EXPECTED = "--fuzz needs Hypothesis: python -m pip install 'mcp-compiler[test]'"
HEADER_EXPECTED = "--header number {number} is not `NAME: VALUE`"
IMPORT_EXPECTED = "options of a build are for a project that is converted; add --import FOLDER"
NO_SCRIPTS = "{path} has no script: expected files that begin with `#!`"
NOT_RUN = "{path}: left out, because it does not begin with `#!`"
READ_SCRIPT = "{path}: the tool `{name}`, arguments read from {source}: {arguments}"
UNREAD_SCRIPT = "{path}: the tool `{name}`; what it takes could not be read, so it has `args`"
NEXT_AFTER_SCRIPTS = "next: read {path}, then mcpc build {project} -o server.pyz"
IMPORT_DOES_NOT_BUILD = "Error: the converted project does not build; nothing was written"
IGNORES_NOTHING = "note: `{entry}` of `ignore` matches no finding"
INSIDE_PROJECT = "{path} is inside the project; expected a folder outside it"
INTERNAL_ERROR = """\
mcpc: internal error: {kind}: {problem}
This is a bug in mcpc, not in the project. Set {variable}=1 to print the traceback."""
LOCK_EXPECTED = "{path} is not a lock of the project; expected its `pylock.toml`, `pylock.NAME.toml` or `uv.lock`"
LOCK_NAME_EXPECTED = "{path} is not the name of a lock; expected pylock.toml or pylock.NAME.toml, without a folder"
LOCKED = {
    False: "locked {count} for Python {pythons} in {path}",
    True: "{path} is up to date: {count}",
}
MINORS_EXPECTED = "`{value}` is not a list of versions; expected for example 3.11,3.12"
OTHER_PYTHON = "mcpc: the project requires Python {required}; running with Python {version}"
NEXT_AFTER_IMPORT = "{path} lists each definition; next: {command}"
NOT_A_SNAPSHOT = (
    "{path} is neither a built file nor a snapshot: {problem}; `mcpc inspect --format json` writes a snapshot"
)
NOT_FUZZED = (
    "not fuzzed: {count} that do not say that they are read-only (`readOnlyHint`), such as {names}; "
    "name one with --fuzz-tool, or use --fuzz-all"
)
NO_CALLS = "{path} has no calls; a server writes them with MCPC_CALL_LOG=FILE and MCPC_CALL_LOG_VALUES=1"
NO_CASES = """\
{folder} has no test cases; a file such as {folder}/greet.yaml has them:

tests:
- name: greets by name
  tool: greet
  arguments: {{name: Ada}}
  expect: {{text: "Hello, Ada!"}}

The file's name ends in {endings}."""
NO_CASE_SELECTED = "--filter `{pattern}` matches none of the {count} cases"
NO_ADDRESS_OF_BUNDLE = "there is no address for {path}: use `--mcpb URL={path}`, or `mcpb` in `[tool.mcpc.registry]`"
NOT_A_RELEASE = "{path} has files that are not those of a release, such as {name}; expected a new folder or a release"
NOT_DOTENV = "{path} is not a file of variables: it has a zero byte, or more than 1 MiB"
NO_SUCH_ARTIFACT = "{path} does not exist; expected a file that `mcpc build` wrote"
NO_REQUESTS = "{path}: no tool of it sends a request"
NOT_BUILT_BY_MCPC = "{path} was not built by mcpc; expected a file that `mcpc build` wrote"
NOT_MODELS = "{path} was not written by `mcpc generate models`; use another name"
NOT_STUBS = "{path} was not written by `mcpc generate client`; use another name"
NOT_PINS = "{path}: {problem}; expected a file of `mcpc scan --pin`, or a snapshot"
ONLY_SELF_CONTAINED = "--interpreter and --minimal-library are options of --self-contained"
OTHER_SOURCES = "{path} was built from other sources than the server that it is to start"
PROGRAM_ALREADY = "the built file is a program already; leave out --exe and --self-contained"
PACKAGE_EXPECTED = "`{value}` is not a package; write a project before this option"
PRINT_EXPECTED = "--command is for an entry that is printed; add --print, --link or --badge"
PATH_EXPECTED = "{path} does not exist; expected {expected}{hint}"
FOLDER_OF_FILE_EXPECTED = "{path} is a file; expected the project's folder, such as {folder}"
ENTRY_EXPECTED = "{path} is a file of a project: expected `mcpc {command} {folder} --entry {entry}`"
PROJECT_MUST_BE_IMPORTED = (
    "--no-import works only with check and inspect --definitions: this command must import the project's files"
)
PROJECT_EXPECTED = "{path} is a file; expected the folder of a project"
PAGE_ADDRESS = "mcpc dev: the page is {address}/ui/#dev={token}\n  clients connect to {address}/mcp"
PAGE_IS_LOCAL = "the page of `mcpc dev` is for this machine only; expected a loopback address with --http, not {host}"
PYTHON_EXPECTED = "expected a command or a path without spaces, quotes or other special characters"
PYTHON_OF_PROGRAM_EXPECTED = "--exe finds Python by its version; expected `--python python3.N`, not `{python}`"
PYTHON_PATH_EXPECTED = "expected a command or an absolute path, because the file can be started from any folder"
PYTHON_TOO_OLD = "a server does not run on Python {minor}; expected 3.11 or newer"
ONCE_IS_STDIO = "--once serves over standard input and output; leave out --http and --ui"
FILE_NEEDS_ONCE = "{path} is a file, which is not rebuilt; start it itself, or add --once"
WORDS_NEED_ONCE = "arguments of the server's program, after `--`, need --once"
PASSED_ALONE = (
    "note: passed alone, but not beside other calls: {names} ({count} in all); `serial: true` runs a case alone"
)
RECORDED = "recorded {count} cases in {path}; they expect no more than success or an error: add to it"
UNKNOWN_TOOL = "the server has no tool `{name}`; it has {names}"
UPDATED = "updated {count} expectations in {files} files; {rest} differ in a way that is not written"
WATCHES = "watching for changes; Ctrl-C ends"
NONE_FAILED = "note: no case failed when it last ran: all run"
TESTED_WITHOUT_HTTP = "note: the file was built without HTTP, so that nothing was called over it"
WRONG_EXPRESSION = "{option}: not a regular expression: {problem}"
SERVER_COMMAND_EXPECTED = "expected the command line of a server after `--`"
SERVER_DID_NOT_ANSWER = "{name}: {problem}"
SERVER_TARGET_EXPECTED = (
    "{target} does not exist; expected a project, a built file, a snapshot, the address of a "
    "server, or a command after `--`"
)
TARGET_OR_COMMAND = "expected a target, or a command after `--`, not both"
TARGET_EXPECTED = "`{value}` is not a target; expected {targets}. Write a project before this option"
TOKEN_EXPECTED = "{path} is not a token: expected one line without spaces"
TWO_VERSIONS_EXPECTED = "expected two versions of a server: A and B, or A and a command after `--`"
NOT_STARTED = "not started: {command}"
NOT_ASKED = "not asked: {address}"
NOTHING_TO_ASK = "has neither a command nor an address"
CLIENT_ASKS = "not started: the client asks its user for a value"
HEADERS_IN_CLEAR = "not asked: its headers would go to another machine without encryption"
NO_ANSWER = "gave no lists: {problem}"
NO_CLIENTS = "note: no client on this machine has a server"
UNKNOWN_SERVER = "no client has a server `{name}`; there is {names}"
START_WITHOUT_CLIENTS = "--start and --trust-project are options of --clients"
START_SERVERS = "note: {count} not started; `--start NAME`, or `--start all`, starts them with your rights"
UNREAD = "{unread} of {total} prompts and resources were not read; the first is {why}"
NOTE = "note: {text}"
NOTE_OF_SERVER = "note: {name}: {text}"
UNKNOWN_TOPIC = "no command and no code is called {topic}; {hint}"
UNKNOWN_COMMAND = "unknown command: {name}"
WRONG_POLICY = "{path}: {problem}"
FILES_OR_CHECK = "expected files to list, or --check with a list"
NO_COMMIT = "the commit of {path} is not known: {problem}"
SECONDS_EXPECTED = "{variable} is {value!r}; expected a number of seconds since 1970"
NOT_REPEATABLE = "Error: two builds of {project} differ; nothing was written"
SECOND_BUILD_FAILED = "Error: the project does not build in another environment: {problem}; nothing was written"
UNKNOWN_OPTION = "{path} cannot be rebuilt: {problem}; install mcpc {version}, which built it"
OTHER_COMPILER = (
    "note: {path} was built by mcpc {built}; this is mcpc {version}, which writes other bytes for the same project: "
    "only sources and lists are compared. To compare all of it: uvx --from {distribution}=={built} mcpc attest verify …"
)
OPTIONS_NEEDED = (
    "note: {path} records {options}; that decides what the file runs, or what may be called, and counts only if you "
    "give it, too"
)
VALUES_NEEDED = "note: the file was built with --build-env {names}; give the same values, which are not in the file"
INTERPRETER_NEEDED = "{path} includes Python {python}: {problem}"
WHEELS_EXPECTED = "{path} is not a folder; expected a folder of wheels, or the address of a page with links to them"
WRONG_SETTING = "{path}: {problem}"
UNKNOWN_SCHEMA = "there is no schema `{name}`; {hint}"
