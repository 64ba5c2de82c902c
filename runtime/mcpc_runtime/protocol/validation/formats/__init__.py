"""Tests of `format`: one for each format of draft-07 and 2020-12, which mean the same in both.

A test accepts any text, valid Unicode or not, takes time linear in its length, and never raises. No test uses `re`,
whose import costs more than all of them.
"""

from __future__ import annotations

from collections.abc import Callable

from mcpc_runtime.lazy import lazy

FORMATS: dict[str, Callable[[str], bool]] = {
    "date": lazy("mcpc_runtime.protocol.validation.formats.times:is_date"),
    "date-time": lazy("mcpc_runtime.protocol.validation.formats.times:is_date_time"),
    "duration": lazy("mcpc_runtime.protocol.validation.formats.times:is_duration"),
    "email": lazy("mcpc_runtime.protocol.validation.formats.addresses:is_email"),
    "hostname": lazy("mcpc_runtime.protocol.validation.formats.addresses:is_hostname"),
    "idn-email": lazy("mcpc_runtime.protocol.validation.formats.addresses:is_idn_email"),
    "idn-hostname": lazy("mcpc_runtime.protocol.validation.formats.domains:is_idn_hostname"),
    "ipv4": lazy("mcpc_runtime.protocol.validation.formats.addresses:is_ipv4"),
    "ipv6": lazy("mcpc_runtime.protocol.validation.formats.addresses:is_ipv6"),
    "iri": lazy("mcpc_runtime.protocol.validation.formats.uris:is_iri"),
    "iri-reference": lazy("mcpc_runtime.protocol.validation.formats.uris:is_iri_reference"),
    "json-pointer": lazy("mcpc_runtime.protocol.validation.formats.uris:is_json_pointer"),
    "regex": lazy("mcpc_runtime.protocol.validation.formats.ecma_regex:is_regex"),
    "relative-json-pointer": lazy("mcpc_runtime.protocol.validation.formats.uris:is_relative_json_pointer"),
    "time": lazy("mcpc_runtime.protocol.validation.formats.times:is_time"),
    "uri": lazy("mcpc_runtime.protocol.validation.formats.uris:is_uri"),
    "uri-reference": lazy("mcpc_runtime.protocol.validation.formats.uris:is_uri_reference"),
    "uri-template": lazy("mcpc_runtime.protocol.validation.formats.uris:is_uri_template"),
    "uuid": lazy("mcpc_runtime.protocol.validation.formats.uris:is_uuid"),
}
"""An unknown format accepts every text."""
