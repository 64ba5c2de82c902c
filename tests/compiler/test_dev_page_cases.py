"""Cases that the page of `mcpc dev` sends: what of them is saved, and what is refused."""

from typing import Any

import pytest

from mcpc.workbench.dev.page import MAX_NAME, CaseError, case_of

EXPECT = {"text": "x"}


@pytest.mark.parametrize(
    ("sent", "saved"),
    [
        ({"tool": "a", "arguments": {"n": 1}, "era": "handshake"}, {"tool": "a", "arguments": {"n": 1}, "era": "handshake"}),
        ({"prompt": "a", "arguments": {"n": "1"}}, {"prompt": "a", "arguments": {"n": "1"}}),
        ({"resource": "a://b", "arguments": {"n": 1}, "expect": EXPECT}, {"resource": "a://b", "expect": EXPECT}),
        ({"tool": "a", "arguments": {}, "expect": None, "more": 1}, {"tool": "a"}),
    ],
)  # fmt: skip
def test_what_a_case_has_is_saved(sent: dict[str, Any], saved: dict[str, Any]) -> None:
    assert case_of({"name": "one", **sent}) == {"name": "one", **saved}
    assert case_of({"name": "n" * MAX_NAME, **sent})["name"] == "n" * MAX_NAME


@pytest.mark.parametrize(
    "wrong",
    [
        {"tool": 1}, {"name": ""}, {"name": "a\nb"}, {"name": "n" * (MAX_NAME + 1)}, {"arguments": [1]}, {"expect": "x"},
        {"era": "another"},
    ],
)  # fmt: skip
def test_what_is_no_case_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(CaseError):
        case_of({"name": "one", "tool": "a", **wrong})
