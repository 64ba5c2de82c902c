"""What every built server carries: the protocol, its transports, and the runners of its handlers.

Standard library only, and of that only what the request at hand needs: the modules on the start path import nothing
but C modules of the interpreter, everything else is a dotted name that is resolved when it is first used.
"""
