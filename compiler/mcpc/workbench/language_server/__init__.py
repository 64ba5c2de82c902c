"""The language server: what editors ask of a project while it is written, over standard input and output.

    messages ─server─▶ Workspace ─▶ OpenProject ◀─ check of the whole project in a thread, after a pause

A request is answered from what the last check found, whose places are moved by each edit since.
"""
