"""The variables with tokens that `boxlang.json` names."""

from __future__ import annotations

from mcpc_runtime.protocol.image import Image


def secret_variables(image: Image) -> list[str]:
    """Return the variables with tokens, which are hidden from handlers (hook `secret_variables`)."""
    return [value for kind, value, _ in image.index["bx"]["tokens"] if kind != "digest"]
