"""The engine: what the stand-ins of FastMCP and of the official SDK share.

FastMCP's stand-in derives from `component_server.ComponentServer` (components, decorators, mounted servers), the SDK's
from `server.BaseServer` directly.  The build and the worker know only the latter.

    server.py            BaseServer, Lists, ListEntry: what the build and the worker use of a server
    calls.py             Call: a request, and the way back to the client
    errors.py            ProtocolError(code, message, data) for the client; ToolError, NotFoundError …
    notes.py             note(text, function=None), taken_notes()
    behaviour.py         Behaviour: what differs between versions, as data; behaviour()
    components.py        Tool, Prompt, Resource, Template; UNSET
    entries.py, schemas.py, schema_*.py, docstrings.py   lists and schemas, byte for byte as the original's

    component_server.py  ComponentServer(BaseServer): components, mounted servers, lifespan, calls
    registration.py      its decorators, add_…, remove_…
    registry.py          components of one kind by their keys, and what happens to duplicates
    creation.py          components from functions
    mounts.py            servers in others: their components under other names; Host: what calls need of a server
    visibility.py        rules that show and hide components
    listing.py           what clients see of all components: lists, and single ones by name or address
    replies.py           results on the wire, and errors as clients see them
    running.py           calls of components
    functions.py         calls of functions, in the event loop or in threads
    injection.py         parameters that clients do not see; Depends, CurrentContext
    arguments.py, prompt_arguments.py, input_checks.py, path_policies.py   arguments, checked and converted
    structures.py            whether a tool has structured results, and whether they are wrapped
    results.py, prompt_results.py, resource_results.py   results of functions, and their form on the wire
    contents.py, jsons.py   content blocks, Image, Audio, File; JSON of anything, as pydantic writes it
    uris.py              templates of addresses: `{x}`, `{x*}`, `{?a,b}`
    completions.py       completion of arguments
    context.py           BaseContext: what functions see of the call; current_context(), entered(context)
    requests.py          requests to the client, and the client's request as the SDK describes it
    elicitation.py, elicitation_schemas.py   questions to the user
    sampling.py          messages for the client's model
    middleware.py        what runs around calls and lists

Nothing here imports pydantic before it is needed.
"""
