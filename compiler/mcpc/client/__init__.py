"""What a server offers, as one value, and how it is read from a running server.

    model.py        ServerLists, and its form as JSON: the snapshot that a repository keeps
    client.py       the client side of the protocol: both eras, all pages, within limits
    contents.py     what its prompts and resources say, for those who ask for it
    processes.py    a server that this client starts, over its standard input and output; several calls at a time
    http.py         a server at an address, over HTTP; one of revision 2024-11-05, too
    http_requests.py  requests over HTTP within limits, and the events of their responses

A server is asked for lists; contents.py alone gets prompts and reads resources.  No tool is called.
"""

from mcpc.client.model import ServerLists, SnapshotError, read_snapshot

__all__ = ["ServerLists", "SnapshotError", "read_snapshot"]
