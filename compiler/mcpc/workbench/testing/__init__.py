"""Tests of a server: cases in files beside its definitions, and arguments made from its schemas.

model.py          a case, what it expects, what was found
case_fields.py    the fields of a file of cases, as tables
case_files.py     the files of a project's `tests` folder: their cases as values, with places
writing.py        cases that are recorded, without secrets, and expectations written anew; yaml_text.py writes them
servers.py        the built file as processes: over standard input and output, and over HTTP
api_stub.py       the API of cases that have responses to the requests of a tool
client.py         calls in both eras, with questions answered from the case
running.py        every case in every era over every transport; those that failed last; again when a file changes
expectations.py   what a reply has to be, and how the found one differs
coverage.py       definitions and branches of schemas that no case uses
fuzzing.py        arguments that a schema accepts, and arguments that it refuses; strategies.py makes them
reports.py        results by case, as text, JSON, JUnit and annotations of GitHub
fixture.py        the server of the pytest plugin
"""
