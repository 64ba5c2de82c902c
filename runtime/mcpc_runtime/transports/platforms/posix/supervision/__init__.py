"""The supervisor, a process that owns all handler processes: it starts with the first of them and ends last.

`client.py` is the server's side and `process.py` the supervisor itself, which adopts orphans and removes temporary
folders at the end; `wire.py` is their socket.  `program.py` starts one program; `termination.py` decides which
processes belong to a call, from the tables of `process_table.py`.
"""

ProcessEntry = tuple[bool, int, int, int]
"""A process of a process table: whether it has ended and waits for its parent, its parent, its group, its start."""

CALL_VARIABLE = "MCPC_CALL"
"""The variable that names the call of a process: all processes that a call started are found by it and ended."""
