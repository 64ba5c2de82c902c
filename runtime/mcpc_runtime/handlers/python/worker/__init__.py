"""The worker: the process in which Python handlers run, one for each environment.

    server ─sending─▶ intake ─▶ Call, on the thread that read it, by turns ─▶ replies ─▶ server
           ─words───▶ main thread: cancel a call, answer what it asked       coroutines: one loop in its own thread

`process.py` is where it begins.  The server's side is `remote.py` and `sending.py`; `runners/worker.py` decides which
worker has which call.
"""
