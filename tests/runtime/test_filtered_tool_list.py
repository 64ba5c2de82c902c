"""A list for somebody who may call only some tools: the very items that were built, on pages of their own."""

from fnmatch import fnmatchcase

import pytest

from mcpc_runtime.http.principals import AllowedTools
from mcpc_runtime.protocol.session import Session
from support.images import MODERN, archive, ask, image_of, project, request, tool

NAMES = [f"{kind}_{number}" for number in range(7) for kind in ("read", "write")]
ODD = {"type": "object", "properties": {"a]b": {"const": 1.0}, 'q"},{': {"enum": [1e300, "é\u2026", 10**30]}}}
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


@pytest.fixture(scope="module")
def image():
    return image_of(archive(project([tool(name, ODD) for name in NAMES])).data)


def session_of(image, *patterns: str) -> Session:
    session = Session(image)
    session.principal = "token somebody"
    session.allows = AllowedTools(patterns) if patterns else None
    return session


def listed(session: Session, version: str, **params: object) -> dict:
    if version == "2026-07-28":
        reply = ask(session, request("tools/list", {**params, "_meta": MODERN}))
    else:
        session.wire = session.image.revision(version)
        reply = ask(session, request("tools/list", params))
    return reply.get("result") or reply


@pytest.mark.parametrize("version", [*HANDSHAKE, "2026-07-28"])
@pytest.mark.parametrize("patterns", [("read_*",), ("write_3", "read_0"), ("*",), ("nobody",), ("*_1", "*_2")])
def test_the_list_has_the_allowed_tools_as_they_were_built(image, version: str, patterns: tuple[str, ...]) -> None:
    whole = listed(session_of(image), version)
    part = listed(session_of(image, *patterns), version)
    assert part.pop("tools") == [
        one for one in whole.pop("tools") if any(fnmatchcase(one["name"], pattern) for pattern in patterns)
    ]
    if version == "2026-07-28":
        assert (whole.pop("cacheScope"), part.pop("cacheScope")) == ("private", "private")
    assert part == whole


def test_a_list_that_everybody_sees_may_be_shown_to_everybody() -> None:
    marked = tool("marked", ODD, _meta={"x/y": {"cacheScope": "public"}})
    session = Session(image_of(archive(project([marked])).data))
    assert listed(session, "2026-07-28")["cacheScope"] == "public"
    session.principal = "token somebody"
    result = listed(session, "2026-07-28")
    assert (result["cacheScope"], result["tools"][0]["_meta"]) == ("private", {"x/y": {"cacheScope": "public"}})
    assert listed(session, "2025-11-25")["tools"][0]["_meta"] == {"x/y": {"cacheScope": "public"}}
