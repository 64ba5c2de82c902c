"""The C part of `hashlib`: `_sha2` since Python 3.12, `_sha256` before."""

from hashlib import sha256 as sha256
