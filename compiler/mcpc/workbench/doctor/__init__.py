"""`mcpc doctor`: what is wrong on this machine, and what to do about each problem.

    model.py          what is examined, and what was found
    checks.py         the table of checks, in the order of the report
    pythons.py        Pythons, virtual environments
    tools.py          Bash, Node, npm, jq, git, and which `mcpc` PATH has
    folders.py        caches and folders for temporary files
    built_file.py     a built file, by its own `check`
    client_files.py   the clients' configuration files
    entries.py        each server in them, by what can be seen without starting it
    environment.py    the variables that a server gets from its client
    trials.py         each server, started as its client would
    client_logs.py    what the clients wrote about servers that failed
    report.py         text of 80 columns, and JSON

Nothing is changed, and nothing is sent.  Secrets are replaced before anything is kept.
"""
