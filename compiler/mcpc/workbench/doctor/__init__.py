"""`mcpc doctor`: what is wrong on this machine, and what to do about each problem.

    report.py    what is examined, what was found, and the report as text and JSON
    machine.py   Pythons, virtual environments, programs, the command `mcpc`, the cache and temporary files
    clients.py   the clients' configuration files, and what a client starts for an entry
    entries.py   each server in them, by what can be seen without starting it
    checks.py    the table of checks; a built file and each server, started as its client would

Nothing is changed, and nothing is sent.  Secrets are replaced before anything is kept.
"""
