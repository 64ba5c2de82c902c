"""The licences of what a built file contains, printed: the names first, then the texts."""

from __future__ import annotations

import json
import sys

from mcpc_runtime.artifact.image.image import Image
from mcpc_runtime.tools.cli import messages as console_text
from mcpc_runtime.tools.cli.command_line import SUCCESS, UsageError
from mcpc_runtime.tools.cli.licence_texts import licence_name, licence_texts
from mcpc_runtime.tools.cli.printing import printable

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
