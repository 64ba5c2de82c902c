"""What in a server's definitions can attack or mislead a model or a person; nothing is sent, and nothing is run.

    texts.py, readings.py, payloads.py   what is read: all texts of a server, in words, and what is hidden in them
    vocabulary.py, confusables.py        tables of phrases by meaning, and of letters that look alike
    client_entries.py, secret_forms.py, downloads.py, entry_positions.py   entries of servers in clients' files
    rules/                               one module a family; codes.py has the risk and the advice of each code
    scanning.py                          run all rules over servers
    pins.py, ignored.py, positions.py    approved digests, ignored findings, positions in projects
    formats/                             reports

Every rule takes linear time in the bytes of the texts.
"""

from mcpc.release.scan.model import Finding, Risk, ScannedFile, ScannedServer
from mcpc.release.scan.scanning import scan_groups, scan_pins, scan_servers

__all__ = ["Finding", "Risk", "ScannedFile", "ScannedServer", "scan_groups", "scan_pins", "scan_servers"]
