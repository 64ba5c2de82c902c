"""Tests of a server: cases in files beside its definitions, and arguments made from its schemas.

case_fields.py    the fields of such files, as tables
case_files.py     the files of a project's `tests` folder, and their cases as values, with the place of each
model.py          a case, what it expects, what was found
servers.py        the built file as processes: over standard input and output, and over HTTP
shared_process.py calls at a time of one process over pipes
client.py         calls in both eras, with questions answered from the case
running.py        every case in every era over every transport
expectations.py   what a reply has to be, and how the found one differs
updating.py       expectations written anew in their file, in place
last_failed.py    the cases that failed when they last ran
watching.py       runs again when a file changes
recording.py      cases from a call log or from the page of `mcpc dev`; redaction.py hides secrets in them
coverage.py       definitions and branches of schemas that no case uses
fuzzing.py        arguments that a schema accepts, and arguments that it refuses; strategies.py makes them
reports.py        results as text, JSON, JUnit and annotations of GitHub
fixture.py        the server of the pytest plugin
"""
