"""Who owns the processes that handlers run in: started with the first of them, and the last to go.

`client.py` is the server's side, `process.py` the supervisor's own, `subtree.py` finds what descends from a call.
"""
