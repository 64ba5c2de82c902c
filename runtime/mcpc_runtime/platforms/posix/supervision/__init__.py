"""Who owns the processes that handlers run in: started with the first of them, and the last to go.

`client.py` is the server's side and `process.py` the supervisor's own; `wire.py` is between them.  `program.py` starts
one program, `ending.py` decides what belongs to a call, by what `subtree.py` sees and `subreaper.py` made possible, and
`folders.py` removes what was written for the time the server runs.
"""

CALL_VARIABLE = "MCPC_CALL"
"""The variable that names the call a process runs for: by it, all that a call started is found and ended."""
