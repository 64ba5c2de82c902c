"""What `format` may ask of a string: one test for each format of draft-07 and 2020-12, which mean the same in both.

A test takes any text, valid Unicode or not, answers in time linear in its length, and never raises.  No test uses `re`,
whose import costs more than all of them.
"""

from __future__ import annotations

from mcpc_runtime.formats.rows import Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

FORMATS: dict[str, Callable[[str], bool]] = {
    "date": Row("mcpc_runtime.formats.times:is_date"),
    "date-time": Row("mcpc_runtime.formats.times:is_date_time"),
    "duration": Row("mcpc_runtime.formats.times:is_duration"),
    "email": Row("mcpc_runtime.formats.addresses:is_email"),
    "hostname": Row("mcpc_runtime.formats.addresses:is_hostname"),
    "idn-email": Row("mcpc_runtime.formats.addresses:is_idn_email"),
    "idn-hostname": Row("mcpc_runtime.formats.domains:is_idn_hostname"),
    "ipv4": Row("mcpc_runtime.formats.addresses:is_ipv4"),
    "ipv6": Row("mcpc_runtime.formats.addresses:is_ipv6"),
    "iri": Row("mcpc_runtime.formats.locators:is_iri"),
    "iri-reference": Row("mcpc_runtime.formats.locators:is_iri_reference"),
    "json-pointer": Row("mcpc_runtime.formats.pointers:is_json_pointer"),
    "regex": Row("mcpc_runtime.formats.expressions:is_regex"),
    "relative-json-pointer": Row("mcpc_runtime.formats.pointers:is_relative_json_pointer"),
    "time": Row("mcpc_runtime.formats.times:is_time"),
    "uri": Row("mcpc_runtime.formats.locators:is_uri"),
    "uri-reference": Row("mcpc_runtime.formats.locators:is_uri_reference"),
    "uri-template": Row("mcpc_runtime.formats.templates:is_uri_template"),
    "uuid": Row("mcpc_runtime.formats.pointers:is_uuid"),
}
"""A format that is not here asks for nothing."""
