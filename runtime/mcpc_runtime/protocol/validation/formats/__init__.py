"""Tests of `format`: one for each format of draft-07 and 2020-12, which mean the same in both.

A test accepts any text, valid Unicode or not, takes time linear in its length, and never raises. No test uses `re`,
whose import costs more than all of them.
"""

from __future__ import annotations

from mcpc_runtime.lazy import resolve

FORMATS = {
    "date": "mcpc_runtime.protocol.validation.formats.times:is_date",
    "date-time": "mcpc_runtime.protocol.validation.formats.times:is_date_time",
    "duration": "mcpc_runtime.protocol.validation.formats.times:is_duration",
    "email": "mcpc_runtime.protocol.validation.formats.addresses:is_email",
    "hostname": "mcpc_runtime.protocol.validation.formats.addresses:is_hostname",
    "idn-email": "mcpc_runtime.protocol.validation.formats.addresses:is_idn_email",
    "idn-hostname": "mcpc_runtime.protocol.validation.formats.domains:is_idn_hostname",
    "ipv4": "mcpc_runtime.protocol.validation.formats.addresses:is_ipv4",
    "ipv6": "mcpc_runtime.protocol.validation.formats.addresses:is_ipv6",
    "iri": "mcpc_runtime.protocol.validation.formats.uris:is_iri",
    "iri-reference": "mcpc_runtime.protocol.validation.formats.uris:is_iri_reference",
    "json-pointer": "mcpc_runtime.protocol.validation.formats.uris:is_json_pointer",
    "regex": "mcpc_runtime.protocol.validation.formats.ecma_regex:is_regex",
    "relative-json-pointer": "mcpc_runtime.protocol.validation.formats.uris:is_relative_json_pointer",
    "time": "mcpc_runtime.protocol.validation.formats.times:is_time",
    "uri": "mcpc_runtime.protocol.validation.formats.uris:is_uri",
    "uri-reference": "mcpc_runtime.protocol.validation.formats.uris:is_uri_reference",
    "uri-template": "mcpc_runtime.protocol.validation.formats.uris:is_uri_template",
    "uuid": "mcpc_runtime.protocol.validation.formats.uris:is_uuid",
}
"""The test of each format; an unknown format accepts every text."""


def is_of_format(name: str, text: str) -> bool:
    """Tell whether a text has a format of the table."""
    return bool(resolve(FORMATS[name])(text))
