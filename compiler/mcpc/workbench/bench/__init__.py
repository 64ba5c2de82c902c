"""Measurements of a built file: size, start, lists, calls, memory, each against a floor that is measured in between.

    model.py       what is measured, and the result as values
    pipes.py       a process that answers lines; http_exchange.py a server that answers over HTTP
    floors.py      the least that a process costs here: a bare Python, and one that returns what it is sent
    measuring.py   the rounds, in which server and floor alternate
    budget.py      limits in a file, compared with a result; also written from one
    report.py      a table of 80 columns, and JSON

Times of a machine mean nothing on another, and little on the same one an hour later.  A ratio to a floor of the same
run does, so a budget should have ratios.
"""
