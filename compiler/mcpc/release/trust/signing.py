"""Signatures of released files by ssh-keygen, which `server.pyz update` verifies, and the public keys of SSH."""

from __future__ import annotations

import base64
import binascii
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mcpc.release.carriers.built_server import EXECUTABLE, PLAIN, CarrierFile, UnusableValueError
from mcpc.sandbox.programs import program_environment, run_program
from mcpc_runtime.tools.cli.signed_file import KEY, NAMESPACE, RefusedError, check_signature
from mcpc_runtime.transports.platforms.program_search import find_program

SIGNATURE_END, PUBLIC_END = ".sig", ".pub"
SECONDS = 120
LONGEST = 1 << 16


@dataclass(frozen=True, slots=True)
class SigningKey:
    """The file of a private key, or of the public key of one that an agent has; and the public key."""

    path: Path
    public: str


def public_key(given: str) -> str:
    """Return the public key in a text or a file, without its comment; an empty text if there is none."""
    words = given.split()
    # A key has two words at least.
    if len(words) < 2:
        with suppress(OSError, ValueError), Path(given).open(encoding="ascii") as file:
            words = file.read(LONGEST).split()
    key = " ".join(words[:2])
    try:
        data = base64.b64decode(key.partition(" ")[2], validate=True)
    except binascii.Error:
        return ""
    # The data of a key begin with the length and the name of its type (RFC 4253, section 6.6).
    length = int.from_bytes(data[:4], "big")
    return key if KEY.fullmatch(key) and data[4 : 4 + length].decode("ascii", "replace") == words[0] else ""


def signing_key(path: Path) -> SigningKey:
    """Return a key to sign with; raise UnusableValueError if its public key cannot be known."""
    beside = path if path.suffix == PUBLIC_END else path.with_name(path.name + PUBLIC_END)
    public = public_key(str(beside)) or public_key(_ssh_keygen("-y", "-f", str(path.resolve())).decode())
    if not public:
        raise UnusableValueError(f"{path} has no key of SSH; make one with `ssh-keygen -t ed25519 -f FILE`")
    return SigningKey(path, public)


def signatures(files: tuple[CarrierFile, ...], key: SigningKey) -> tuple[CarrierFile, ...]:
    """Return the signature of each file that people start, as `update` expects it beside that."""
    return tuple(
        CarrierFile(file.path + SIGNATURE_END, PLAIN, _signature(file, key))
        for file in files
        if file.mode == EXECUTABLE
    )


def _signature(file: CarrierFile, key: SigningKey) -> bytes:
    signature = _ssh_keygen("-Y", "sign", "-f", str(key.path.resolve()), "-n", NAMESPACE, told=file.data)
    # Checked as `update` will do it, or people with the file would be the first to notice a wrong key.
    with tempfile.TemporaryDirectory(prefix="mcpc-") as folder:
        signed = Path(folder, "signed")
        signed.write_bytes(file.data)
        try:
            check_signature(str(signed), signature, key.public)
        except RefusedError:
            raise UnusableValueError(f"{key.path} is not the private key of the public one beside it") from None
    return signature


def _ssh_keygen(*words: str, told: bytes = b"") -> bytes:
    variables = {name.encode(): value.encode() for name, value in program_environment("ssh-keygen").items()}
    program = find_program("ssh-keygen", variables)
    if not program:
        raise UnusableValueError("ssh-keygen is not on PATH: it signs, and is in OpenSSH")
    done = run_program("ssh-keygen", [program, *words], SECONDS, told=told)
    if done.returncode:
        problem = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise UnusableValueError(f"ssh-keygen: {problem}; a key with a passphrase needs ssh-agent")
    return done.stdout
