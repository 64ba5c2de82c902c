"""The engine: what the stand-ins of FastMCP and of the official SDK share.

The build and the worker know servers, and servers know calls, by the protocols in `../interfaces.py` only.

    server.py            ProtocolError(code, message, data) for the client; ToolError, NotFoundError …; the current
                         call, its token; notes about the project; lack(feature): what the adapter has not
    behaviour.py         Behaviour, SchemaRules: what differs between versions, as data
    components.py        Tool, Prompt, Resource, Template; UNSET
    schemas.py, schema_*.py, docstrings.py   schemas, byte for byte as the original's

    registration.py      decorators, add_…, remove_…; components made from functions, and what happens to duplicates
    mounts.py            middleware; servers in others; rules that show and hide components
    listing.py           what clients see of all components: lists, and single ones by name or address;
                         their entries, byte for byte
    running.py           calls of components, completion of arguments; results on the wire, and errors
    injection.py         calls of functions, in the event loop or in threads; Depends, CurrentContext
    arguments.py         arguments of tools and prompts, checked and converted
    results.py, resource_results.py   results of functions, and their form on the wire
    contents.py          content blocks, Image, Audio, File; JSON of anything, as pydantic writes it
    uris.py              templates of addresses: `{x}`, `{x*}`, `{?a,b}`, and which values they may have
    context.py           BaseContext: what functions see of the call; requests to the client
    elicitation.py       questions to the user
    web.py               the program's own HTTP routes

Nothing here imports pydantic before it is needed.
"""
