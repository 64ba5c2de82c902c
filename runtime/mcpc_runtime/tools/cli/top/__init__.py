"""`top`: a running server's measures in a terminal, from its `/metrics`.

exposition.py   the text of /metrics, read
measures.py     two readings compared: rates, quantiles, what runs
connection.py   fetches the text; a token goes to this machine only, or over https
frame.py        the measures as lines of text
display.py      the loop: fetch, draw, keys
command.py      options and exit statuses
"""
