"""The modules of the stand-in `fastmcp`, and what each exports: a table, which `standins/exports.py` reads."""

from __future__ import annotations

TYPES = "types"
"""The part that stands for the SDK's types of the protocol."""

TOOL = "Tool FunctionTool"
PROMPT = "Prompt PromptArgument FunctionPrompt"
RESOURCE = "Resource FunctionResource"
TEMPLATE = "ResourceTemplate FunctionResourceTemplate"
FILES = "TextResource BinaryResource FileResource"
ERRORS = (
    "FastMCPError ValidationError ResourceError ToolError PromptError InvalidSignature ClientError NotFoundError "
    "DisabledError AuthorizationError ResourceSecurityError"
)
CONTEXT = "get_context get_server get_http_request get_http_headers get_access_token"
CURRENT = (
    "Depends CurrentContext CurrentFastMCP CurrentRequest CurrentHeaders CurrentAccessToken TokenClaim "
    "OptionalCurrentContext"
)
ELICITATION = "AcceptedElicitation DeclinedElicitation CancelledElicitation"
SECURITY = "ResourceSecurity DEFAULT_RESOURCE_SECURITY=DEFAULT INHERIT_SECURITY=INHERITED"
CONTENT_TYPES = "TextContent ImageContent AudioContent EmbeddedResource ResourceLink ContentBlock ToolAnnotations Icon"

Row = dict[str, str]
RESULTS = {"e:results": "ToolResult"}
AUTH = {"auth": "*"}

MODULES: dict[str, Row] = {
    "": {"server": "FastMCP", "context": "Context", "settings": "settings __version__", "e:contents": "Image"},
    "server": {"server": "FastMCP", "context": "Context"},
    "server.server": {
        "server": "FastMCP",
        "context": "Context",
        "components": "Tool Prompt Resource",
    },
    "server.context": {"context": "Context", "e:elicitation": ELICITATION, "dependencies": "get_context"},
    "server.dependencies": {
        "dependencies": f"{CONTEXT} {CURRENT}",
        "e:injection": "Dependency",
        "auth": "AccessToken",
    },
    "server.elicitation": {"e:elicitation": ELICITATION},
    "server.sampling": {"context": "SamplingResult"},
    "server.sampling.run": {"context": "SamplingResult"},
    "server.middleware": {"e:mounts": "Middleware MiddlewareContext CallNext=NextCall"},
    "server.middleware.middleware": {"e:mounts": "Middleware MiddlewareContext CallNext=NextCall"},
    "server.lifespan": {"facades": "Lifespan ContextManagerLifespan lifespan"},
    "server.http": {"e:web": "StarletteWithLifespan=ServedApplication", "dependencies": "get_http_request"},
    "server.event_store": {"settings": "EventStore=Settings"},
    "server.auth": AUTH,
    "server.auth.auth": AUTH,
    "server.auth.authorization": AUTH,
    "server.auth.oauth_proxy": AUTH,
    "server.auth.oidc_proxy": AUTH,
    "server.auth.verifiers": AUTH,
    "server.auth.middleware": AUTH,
    "server.auth.providers": AUTH,
    "server.tasks": {"components": "TaskConfig"},
    "server.tasks.config": {"components": "TaskConfig"},
    "tools": {"components": TOOL, **RESULTS},
    "tools.base": {"components": "Tool", **RESULTS},
    "tools.tool": {"components": TOOL, TYPES: CONTENT_TYPES, **RESULTS},
    "tools.function_tool": {"components": "FunctionTool", **RESULTS},
    "tools.tool_transform": {"components": "Tool", **RESULTS},
    "prompts": {
        "components": PROMPT,
        "e:resource_results": "Message PromptResult",
        TYPES: "PromptMessage",
    },
    "prompts.base": {"components": PROMPT, "e:resource_results": "Message PromptResult"},
    "prompts.prompt": {
        "components": PROMPT,
        "e:resource_results": "Message PromptResult",
        TYPES: "PromptMessage TextContent",
    },
    "prompts.function_prompt": {"components": "FunctionPrompt"},
    "resources": {
        "components": f"{RESOURCE} {TEMPLATE} {FILES}",
        "e:uris": SECURITY,
        "e:resource_results": "ResourceContent ResourceResult",
    },
    "resources.security": {"e:uris": SECURITY},
    "resources.base": {"components": "Resource", "e:resource_results": "ResourceContent ResourceResult"},
    "resources.resource": {
        "components": RESOURCE,
        "e:resource_results": "ResourceContent ResourceResult",
    },
    "resources.function_resource": {
        "components": RESOURCE,
    },
    "resources.template": {"components": TEMPLATE},
    "resources.types": {"components": FILES},
    "dependencies": {"dependencies": CURRENT, "e:injection": "Dependency"},
    "exceptions": {
        "e:errors": ERRORS,
        "settings": "McpError MCPError FastMCPDeprecationWarning",
    },
    "settings": {"settings": "Settings ENV_FILE=settings"},
    "types": {"e:contents": "Image Audio File"},
    "utilities": {},
    "utilities.types": {"e:contents": "Image Audio File"},
    "utilities.logging": {"settings": "get_logger configure_logging temporary_log_level"},
    "utilities.lifespan": {"facades": "combine_lifespans"},
    "utilities.tasks": {"components": "TaskConfig"},
}
"""The modules."""
PROVIDERS = (
    "auth0 aws azure bearer bearer_env clerk debug descope discord github google huggingface in_memory introspection "
    "jwt keycloak oci propelauth scalekit supabase workos"
)
"""The modules of providers of authentication."""
MODULES |= {f"server.auth.providers.{name}": AUTH for name in PROVIDERS.split()}
