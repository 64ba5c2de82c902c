"""Tests of skills as clients ask for them: the list, one entry, folders, and the bytes that the digests are of."""

import hashlib
import json
from base64 import b64decode
from functools import cache

import pytest

from mcpc_runtime.protocol.requests import SendResponse
from mcpc_runtime.protocol.session import Session
from support.images import MODERN, archive, image_of

FILES = {
    "server.json": '{"serverInfo": {"name": "skilled", "version": "1.0"}}',
    "skills/acme/refunds/SKILL.md": "---\nname: refunds\ndescription: How we pay back.\n---\n# Refunds\n",
    "skills/acme/refunds/mail/first.txt": "Dear …\n",
    "skills/acme/refunds/logo.png": b"\x89PNG\r\n\x1a\n\0\xff",
    f"skills/acme/refunds/{'long' * 60}.md": "# Long\n",
}
SKILL = "skill://acme/refunds/SKILL.md"


@cache
def image():
    return image_of(archive(FILES).data)


def ask(method: str, version: str = "2026-07-28", **params: object) -> dict:
    """The answer to one request."""
    session = Session(image())
    given = {**params, "_meta": MODERN} if version == "2026-07-28" else params
    if version != "2026-07-28":
        session.wire = session.image.revision(version)
    (effect,) = session.receive(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": given}).encode())
    assert isinstance(effect, SendResponse)
    return json.loads(effect.data)


def test_every_digest_is_of_what_is_read():
    (entry,) = ask("skills/list")["result"]["skills"]
    assert len(entry["resources"]) == 4
    for file in entry["resources"]:
        (contents,) = ask("resources/read", uri=file["uri"])["result"]["contents"]
        data = contents["text"].encode() if "text" in contents else b64decode(contents["blob"])
        assert (f"sha256:{hashlib.sha256(data).hexdigest()}", len(data)) == (file["digest"], file["size"])


def test_get_is_the_entry_of_the_list_and_may_be_kept():
    result = ask("skills/get", uri=SKILL)["result"]
    (listed,) = ask("skills/list")["result"]["skills"]
    assert result["skill"] == listed
    assert (result["ttlMs"] > 0, result["cacheScope"], result["resultType"]) == (True, "public", "complete")


def test_folders_are_read_level_by_level():
    def children(uri: str) -> list[tuple[str, str]]:
        found = ask("resources/directory/read", uri=uri)["result"]["resources"]
        return [(child["name"], child["mimeType"]) for child in found]

    top = children("skill://acme/refunds")
    assert top[0] == ("refunds", "text/markdown") and ("mail", "inode/directory") in top and len(top) == 4
    assert children("skill://acme/refunds/mail") == [("first.txt", "text/plain")]


REFUSED = {
    "a skill nobody has": ("skills/get", {"uri": "skill://none/SKILL.md"}),
    "a file that is no skill": ("skills/get", {"uri": "skill://acme/refunds/mail/first.txt"}),
    "no uri": ("skills/get", {}),
    "a uri that is no text": ("skills/get", {"uri": 7}),
    "half a character": ("skills/get", {"uri": "skill://\ud800"}),
    "a file that is no folder": ("resources/directory/read", {"uri": SKILL}),
    "a folder above all skills": ("resources/directory/read", {"uri": "skill://acme"}),
    "a cursor": ("resources/directory/read", {"uri": "skill://acme/refunds", "cursor": "1"}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_there_is_an_invalid_parameter(case):
    method, params = REFUSED[case]
    assert ask(method, **params)["error"]["code"] == -32602


def test_the_handshake_era_reads_files_and_has_no_extension():
    version = "2025-11-25"
    assert ask("skills/list", version)["error"]["code"] == -32601
    assert [one["uri"] for one in ask("resources/list", version)["result"]["resources"]] == [SKILL]
    assert ask("resources/read", version, uri=SKILL)["result"]["contents"][0]["mimeType"] == "text/markdown"


def test_the_extension_is_told_with_its_one_setting():
    capabilities = ask("server/discover")["result"]["capabilities"]
    assert capabilities == {"resources": {}, "extensions": {"io.modelcontextprotocol/skills": {"directoryRead": True}}}
