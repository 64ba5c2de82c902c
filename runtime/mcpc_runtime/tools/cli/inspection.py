"""The commands that tell what a built file is: its facts, whether it can run here, and what it offers."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from mcpc_runtime.lazy import resolve
from mcpc_runtime.protocol.image import Image
from mcpc_runtime.tools.cli import printing as console_text
from mcpc_runtime.tools.cli.artifact_info import Object, build_info, list_all, operation_entries, update_key
from mcpc_runtime.tools.cli.licence_texts import licence_name, licence_texts
from mcpc_runtime.tools.cli.printing import FINDINGS, NOT_RUNNABLE, SUCCESS, UsageError, printable, put_json, wants_json
from mcpc_runtime.tools.cli.requests import ask_program
from mcpc_runtime.tools.cli.self_check import HEALTHY, NOTES, all_checks, name_some, run_check


def info(image: Image, archive: str, arguments: list[str]) -> int:
    """Print the build information."""
    build = build_info(image)
    if wants_json(arguments):
        put_json(build)
        return SUCCESS
    rows = [
        ("server", f"{build['name']} {build['version']}"),
        ("revisions", ", ".join(build["revisions"])),
        ("offers", ", ".join(definition_counts(build))),
        ("handlers", ", ".join(build["handlers"]) or "none"),
        ("runs on", build["runsOn"]),
        ("fastest", f"on Python {build['python']['bytecode']}"),
        *running_rows(build),
        *setting_rows(build),
        *([("packages", ", ".join(build["packages"]))] if build.get("packages") else []),
        *([("updates", f"signed by {printable(update_key(build))}")] if update_key(build) else []),
        ("built by", f"mcpc {build['mcpc']}"),
        ("sources", build["sourceDigest"]),
    ]
    sys.stdout.write("".join(f"{name:<10}{value}\n" for name, value in rows))
    return SUCCESS


def definition_counts(build: Object) -> list[str]:
    """Return the number of definitions of each kind; kinds other than tools and prompts only if there are any."""
    others = [(kind, words) for kind, words in OTHER_KINDS if build.get(kind)]
    rows = ((build[kind], words) for kind, words in (("tools", "tools"), ("prompts", "prompts"), *others))
    return [f"{count} {words.removesuffix('s') if count == 1 else words}" for count, words in rows]


OTHER_KINDS = (("resources", "resources"), ("resourceTemplates", "resource templates"), ("completions", "completions"))


def running_rows(build: Object) -> list[tuple[str, str]]:
    """Return rows about timeouts, variables and required programs of handlers."""
    rows = [("timeout", "60 s per call, unless listed below")]
    for field, (row, in_words) in HANDLER_ROWS.items():
        groups = (group for group in build.get("running", ()) if field in group)
        rows += [(row, printable(f"{in_words(group[field])} for {name_some(group['of'])}")) for group in groups]
    return rows


def setting_rows(build: Object) -> list[tuple[str, str]]:
    """Return a row about each setting."""
    return [("setting", printable(setting_text(setting))) for setting in build.get("settings", ())]


def setting_text(setting: Object) -> str:
    """Return what a person must know to give a setting its value."""
    words = [setting["type"], *(word for word in ("required", "secret") if setting.get(word))]
    words += [f"one of {', '.join(map(str, setting['choices']))}"] if "choices" in setting else []
    words += [f"default {shown_default(setting['default'])}"] if "default" in setting else []
    purpose = setting.get("title") or setting.get("description", "").partition("\n")[0]
    return f"{setting['name']} ({', '.join(words)})" + (f": {purpose}" if purpose else "")


def shown_default(value: object) -> str:
    """Return a default as a person writes it."""
    return str(value).lower() if type(value) is bool else str(value)


def environment_text(environment: str | list[str]) -> str:
    """Return the variables of handlers as text."""
    return f"{environment} environment" if type(environment) is str else ", ".join(environment)


HANDLER_ROWS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "timeout": ("timeout", lambda seconds: f"{seconds:g} s"),
    "environment": ("variables", environment_text),
    "requires": ("requires", ", ".join),
    "maxResult": ("results", lambda size: f"at most {size:,} bytes"),
}
"""Fields of handler options that differ from the default: the row, and the text of the value."""


def check(image: Image, archive: str, arguments: list[str]) -> int:
    """Verify every entry, load every definition, check the requirements of handlers, and try every revision."""
    results = [(name, run_check(image, verify)) for name, verify in all_checks(image)]
    notes = [(name, run_check(image, look)) for name, look in NOTES]
    wrong = [name for name, problems in results if problems]
    # If only the project's own checks fail, the file is sound, and this machine is not ready.
    status = SUCCESS if not wrong else NOT_RUNNABLE if wrong == [HEALTHY] else FINDINGS
    if wants_json(arguments):
        checks = [{"name": name, "problems": problems} for name, problems in results]
        put_json({"ok": not wrong, "checks": checks, "notes": [note for _, problems in notes for note in problems]})
        return status
    for word, rows in (("failed", results), ("note", [row for row in notes if row[1]])):
        for name, problems in rows:
            sys.stdout.write(f"{word if problems else 'ok':<8}{name}\n")
            sys.stdout.write("".join(f"        {printable(problem)}\n" for problem in problems))
    return status


def list_definitions(image: Image, archive: str, arguments: list[str]) -> int:
    """Print the tools, prompts, resources and templates."""
    lists = {kind: list_all(image, kind, ask_program) for kind in ("tools", "prompts")}
    operations = operation_entries(image)
    lists |= {"operations": operations} if operations else {}
    read = {kind: list_all(image, kind, ask_program) for kind in READABLE_LISTS}
    if wants_json(arguments):
        put_json(lists | {kind: items for kind, items in read.items() if items})
        return SUCCESS
    for kind, items in lists.items():
        for item in items:
            names = item.get("inputSchema", {}).get("properties", {}) or [a["name"] for a in item.get("arguments", [])]
            summary = printable(item.get("description", "").partition("\n")[0])
            sys.stdout.write(f"{kind[:-1]:<7} {item['name']}({', '.join(map(printable, names))})  {summary}\n")
    for kind, items in read.items():
        label, key = READABLE_LISTS[kind]
        for item in items:
            summary = printable((item.get("description") or item["name"]).partition("\n")[0])
            sys.stdout.write(f"{label} {printable(item[key])}  {summary}\n")
    for row in image.hooks("describe_hidden_tools"):
        # The note goes to another stream, and belongs below the lists.
        sys.stdout.flush()
        sys.stderr.write(resolve(row)(image, [tool["name"] for tool in lists["tools"]]))
    return SUCCESS


READABLE_LISTS = {"resources": ("resource", "uri"), "resourceTemplates": ("template", "uriTemplate")}
"""The lists of resources: the word for an item, and the member that identifies it."""


SBOM = "META-INF/sbom.cdx.json"


def show_licences(image: Image, archive: str, arguments: list[str]) -> int:
    """Print the licence of each component, and then the texts."""
    if arguments:
        raise UsageError(console_text.UNEXPECTED.format(words=" ".join(arguments)))
    for component in json.loads(image.entry(SBOM))["components"]:
        licences = " and ".join(map(licence_name, component.get("licenses", ()))) or "no licence is declared"
        sys.stdout.write(f"{printable(component['name'])} {printable(component['version'])}: {printable(licences)}\n")
    for heading, text in licence_texts(image.archive):
        sys.stdout.write(f"\n=== {printable(heading)}\n\n{text.rstrip()}\n")
    return SUCCESS
