"""Running commands: one file a way; none knows the protocol.

A runner is made with the reactor and the image; `start(command, done)` returns a job and calls `done(completed)` once;
`stop(job)` ends it without a word; `close()` ends everything.
"""
