"""How a handler is called and what its output means: one file a system.

A contract is two functions: `prepare(call, image)` makes the runner's command, `conclude(call, completed)` makes an
outcome of what came back.  Neither does any IO beyond reading the image.
"""
