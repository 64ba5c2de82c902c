"""Help pages and messages of the commands of a built file, as templates."""

from __future__ import annotations

HELP = """{name} {version}: a Model Context Protocol server in one file

  {file}                              serve over standard input and output, as clients start it
  {file} info [--json]                print name, version, protocol revisions and build facts
  {file} check [--json]               check that the file is intact and can run on this machine
  {file} list [--json]                list tools, prompts and resources
  {file} call TOOL [NAME=VALUE ...]   call a tool; progress and log messages go to standard error
  {file} call TOOL --json OBJECT      the same, with the arguments as one JSON object ("-": from standard input)
  {file} read URI [--json]            print a resource
  {file} prompt NAME [NAME=VALUE ...]  print the messages of a prompt
  {file} complete NAME ARGUMENT [VALUE]  print completions of a prompt argument or a template variable
  {file} serve --http [HOST:]PORT     serve over HTTP; `serve --help` lists the options
  {file} install --client NAME|all    add the server to the configuration of clients; `install --help`
  {file} uninstall --client NAME|all  remove it again
  {file} clients                      list the clients on this machine and the servers that each has
  {file} config --client NAME         print the entry for a client, and where it goes
  {file} completion bash|zsh|fish     print the script by which a shell completes this command
  {file} [COMMAND ...] -- WORDS       give words to the server's program, as its own command line has them
  {file} licenses                     print the licences of what the file contains

Options of serving, alone or after `serve`; each has a variable that means the same, such as MCPC_TOOLS:
{options}
{values}
Entry for a client's configuration:
  {{"mcpServers": {{"{name}": {{"command": {python}, "args": [{words}]}}}}}}
"""
PROJECT_HELP = """{name} {version}: a Model Context Protocol server, built from {project}

  mcpc dev --once {project}                            serve over standard input and output
  mcpc inspect {project}                               list tools, prompts and resources
  mcpc call {project} TOOL [NAME=VALUE ...]            call a tool
  mcpc call {project} --resource URI                   print a resource
  mcpc call {project} --prompt NAME [NAME=VALUE ...]   print the messages of a prompt
  mcpc build {project} -o server.pyz                   build one executable file

{values}
"""
VALUES = """\
A VALUE is a string if the tool's schema allows only strings, and JSON if it does not allow strings. If the schema
allows both, VALUE is read as JSON if the result has an allowed type, otherwise as a string.
"""

SERVE = "  {file} serve "
"""How the line begins that only a file with HTTP support has."""

WORDS = "  {file} [COMMAND ...] -- "
"""How the line begins that only a file with a program has."""

UNKNOWN_COMMAND = "unknown command {name!r}{hint}"
IS_OFFERED = "; it is a {kind}: `{command}`"
FOR_PROGRAM = "; words for the server's program follow `--`: `{command}`"
SEE = "see `{command} --help`"
NAMES = "; the server has {names}"
OTHERS = " and {count} more"
OFFERS_NONE = "error: the server offers no {kind}\n"
LISTS_NAMES = "; `{command}` prints all names"
TOOL_MISSING = "call needs the name of a tool"
URI_MISSING = "read needs the URI of a resource"
PROMPT_MISSING = "prompt needs the name of a prompt"
COMPLETION_MISSING = "complete needs the name of a prompt or a URI template, and the name of an argument"
JSON_MISSING = '--json needs one JSON object, or "-" for standard input'
NOT_JSON = 'the arguments are not JSON: {problem}; expected an object such as \'{{"name": "Ada"}}\''
TOO_DEEP = "the arguments are nested more deeply than this server reads"
NOT_AN_OBJECT = "the arguments must be a JSON object"
SHELL_MISSING = "completion needs the name of a shell: bash, zsh or fish"
UNEXPECTED = "unexpected words: {words}"
WITHOUT_HTTP = "error: this file was built without HTTP support; build it with `mcpc build --http`\n"
