"""What in a server's definitions can attack or mislead a model or a person; nothing is sent, and nothing is run.

    model.py                     servers, findings, and the codes with their risk and advice
    texts.py                     all texts of a server, and where they are in files
    hidden_text.py, leaks.py     what people do not see; secrets and addresses
    orders.py                    phrases that give a model orders; names of other servers' tools
    entries.py                   entries of servers in clients' files
    scanning.py, reports.py      run all rules over servers; pins and ignored findings; formats of the report

Every rule takes linear time in the bytes of the texts.
"""

from mcpc.release.scan.model import Finding, Risk, ScannedFile, ScannedServer
from mcpc.release.scan.scanning import scan_groups, scan_pins, scan_servers

__all__ = ["Finding", "Risk", "ScannedFile", "ScannedServer", "scan_groups", "scan_pins", "scan_servers"]
