"""The front of `mcpc dev --ui`: one process holds the port, serves the page and its own requests, and relays the rest.

server.py     the port: what is served here, what is relayed, and who may ask
relay.py      a request passed to the built server of the moment, and its answer passed back as it comes
history.py    builds as the page shows them; a waiting request ends with the next one
cases.py      a case that the page saves, checked before it is written

A built server is replaced with each build, and there is none while the first build fails.  So the page and what it asks
about builds come from here: a failed build is shown in the page that is already open.
"""
