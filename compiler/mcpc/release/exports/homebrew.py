"""A Homebrew formula: the published file with the Python of its bytecode.

Every value is a string of Ruby that cannot interpolate.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from mcpc.release.carriers.errors import UnusableValueError

if TYPE_CHECKING:
    from mcpc.release.exports.deployment import Deployment

SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*")
MAX_DESCRIPTION = 80
FORMULA = """# Written by `mcpc ship homebrew`: Formula/{label}.rb of a tap.
class {class_name} < Formula
  desc {description}
  homepage {homepage}
  url {url}, using: :nounzip
  version {version}
  sha256 {digest}
{license}
  depends_on {python}

  def install
    libexec.install File.basename(stable.url) => "server.pyz"
    (bin/{label_text}).write <<~SH
      #!/bin/sh
      exec "#{{Formula[{python}].opt_bin}}/python{minor}" "#{{libexec}}/server.pyz" "$@"
    SH
    chmod 0755, bin/{label_text}
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/{label} --version")
  end
end
"""


def homebrew(target: Deployment) -> str:
    """Return the formula; raise UnusableValueError if it lacks an address."""
    if not target.url:
        raise UnusableValueError("a formula needs the address of the published file: use `--url https://…/server.pyz`")
    if not target.homepage:
        raise UnusableValueError("a formula needs a homepage: write `urls = {Homepage = …}` in `[project]`")
    license_line = f"  license {ruby_text(target.license)}\n" if SPDX.fullmatch(target.license) else ""
    return FORMULA.format(
        label=target.label,
        label_text=ruby_text(target.label),
        class_name=class_name(target.label),
        description=ruby_text(one_sentence(target.summary or f"MCP server {target.label}")),
        homepage=ruby_text(target.homepage),
        url=ruby_text(target.url),
        version=ruby_text(target.version),
        digest=ruby_text(target.digest),
        license=license_line,
        python=ruby_text(f"python@{target.python}"),
        minor=target.python,
    )


def ruby_text(text: str) -> str:
    """Return a string of Ruby: JSON's escapes are Ruby's, and `#` is escaped, so that nothing is interpolated."""
    if not text.isprintable():
        raise UnusableValueError(f"{text!r} has characters that cannot be in a formula")
    return json.dumps(text, ensure_ascii=False).replace("#", "\\#")


def one_sentence(text: str) -> str:
    """Return a description as Homebrew wants it: short, without a full stop."""
    line = " ".join(text.split())
    if len(line) > MAX_DESCRIPTION:
        line = line[: MAX_DESCRIPTION - 1].rsplit(" ", 1)[0] + "…"
    return line.rstrip(".")


def class_name(label: str) -> str:
    """Return the name of the class: that of the file in camel case; Homebrew finds the class by it."""
    name = "".join(part.capitalize() for part in label.split("-"))
    return name if name[:1].isalpha() else f"Mcp{name}"
