"""Scanner and encoder for an interpreter without the C accelerator, under the accelerator's names."""

from __future__ import annotations

from collections.abc import Callable
from json import JSONEncoder
from json.encoder import encode_basestring
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any

__all__ = ["encode_basestring", "make_encoder", "make_scanner"]


def make_scanner(context: Any) -> Callable[[str, int], tuple[object, int]]:
    """Return the pure-Python scanner; it needs the parsers of objects, arrays and strings in its context."""
    decoder = __import__("json.decoder", fromlist=["JSONObject"])
    context.parse_object = staticmethod(decoder.JSONObject)
    context.parse_array = staticmethod(decoder.JSONArray)
    context.parse_string = staticmethod(decoder.py_scanstring)
    scan: Callable[[str, int], tuple[object, int]] = py_make_scanner(context)
    return scan


def make_encoder(*arguments: Any) -> Callable[[object, int], tuple[str, ...]]:
    """Return an encoder with the arguments of the C one; it quotes strings itself."""
    _, default, _, _, key_separator, item_separator, sort_keys, skip_keys, allow_nan = arguments
    encoder = JSONEncoder(
        skipkeys=skip_keys,
        ensure_ascii=False,
        allow_nan=allow_nan,
        sort_keys=sort_keys,
        separators=(item_separator, key_separator),
        default=default,
    )
    return lambda value, level: tuple(encoder.iterencode(value))
