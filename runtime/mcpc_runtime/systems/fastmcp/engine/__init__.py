"""The engine: what the stand-ins of FastMCP and of the official SDK share.

FastMCP's stand-in derives from `component_server.ComponentServer` (components, decorators, mounted servers).  The build
and the worker know servers, and servers know calls, by the protocols in `../interfaces.py` only.

    server.py            the current call, its token; note(text, function=None), taken_notes()
    errors.py            ProtocolError(code, message, data) for the client; ToolError, NotFoundError …
    behaviour.py         Behaviour: what differs between versions, as data; behaviour()
    components.py        Tool, Prompt, Resource, Template; UNSET
    entries.py, schemas.py, schema_*.py, docstrings.py   lists and schemas, byte for byte as the original's

    component_server.py  ComponentServer: components, mounted servers, lifespan, calls
    registration.py      its decorators, add_…, remove_…; components made from functions, and what happens to duplicates
    mounts.py            servers in others: their components under other names; rules that show and hide components
    listing.py           what clients see of all components: lists, and single ones by name or address
    replies.py           results on the wire, and errors as clients see them
    running.py           calls of components, and completion of arguments
    injection.py         calls of functions, in the event loop or in threads; Depends, CurrentContext
    arguments.py         arguments of tools and prompts, checked and converted
    results.py, resource_results.py   results of functions, and their form on the wire
    contents.py          content blocks, Image, Audio, File; JSON of anything, as pydantic writes it
    uris.py              templates of addresses: `{x}`, `{x*}`, `{?a,b}`, and which values they may have
    context.py           BaseContext: what functions see of the call; current_context(), entered(context)
                         requests to the client
    elicitation.py       questions to the user
    sampling.py          messages for the client's model
    middleware.py        what runs around calls and lists
    web.py               the program's own HTTP routes

Nothing here imports pydantic before it is needed.
"""
