"""The modules of the stand-in `fastmcp`, and what each exports: a table, which `standins/exports.py` reads."""

from __future__ import annotations

TYPES = "types"
"""The part that stands for the SDK's types of the protocol."""

TOOL = "Tool FunctionTool"
TOOL_META = "ToolMeta tool"
PROMPT = "Prompt PromptArgument FunctionPrompt"
PROMPT_META = "PromptMeta prompt"
RESOURCE = "Resource FunctionResource"
RESOURCE_META = "ResourceMeta resource"
TEMPLATE = "ResourceTemplate FunctionResourceTemplate"
TEMPLATES = "match_uri_template expand_uri_template build_regex extract_query_params"
FILES = "TextResource BinaryResource FileResource DirectoryResource HttpResource"
ERRORS = (
    "FastMCPError ValidationError ResourceError ToolError PromptError InvalidSignature ClientError NotFoundError "
    "DisabledError AuthorizationError ResourceSecurityError"
)
CONTEXT = "get_context get_server get_http_request get_http_headers get_access_token"
CURRENT = (
    "Depends CurrentContext CurrentFastMCP CurrentRequest CurrentHeaders CurrentAccessToken TokenClaim Progress "
    "OptionalCurrentContext"
)
ELICITATION = "AcceptedElicitation DeclinedElicitation CancelledElicitation"
SAMPLING = "SamplingResult SampleStep SamplingTool"
SECURITY = "ResourceSecurity DEFAULT_RESOURCE_SECURITY=DEFAULT INHERIT_SECURITY=INHERITED"
CONTENT_TYPES = "TextContent ImageContent AudioContent EmbeddedResource ResourceLink ContentBlock ToolAnnotations Icon"

Row = dict[str, str]
RESULTS = {"e:results": "ToolResult"}
AUTH = {"auth": "*"}

MODULES: dict[str, Row] = {
    "": {
        "server": "FastMCP",
        "context": "Context",
        "settings": "settings __version__",
        "e:contents": "Image",
    },
    "server": {"server": "FastMCP", "context": "Context"},
    "server.server": {
        "server": "FastMCP",
        "context": "Context",
        "components": "Tool Prompt",
        "resources": "Resource",
    },
    "server.context": {"context": "Context", "e:elicitation": ELICITATION, "dependencies": "get_context"},
    "server.dependencies": {
        "dependencies": f"{CONTEXT} {CURRENT}",
        "e:injection": "Dependency CallArgument",
        "auth": "AccessToken",
    },
    "server.elicitation": {"e:elicitation": ELICITATION},
    "server.sampling": {"e:sampling": SAMPLING},
    "server.sampling.run": {"e:sampling": SAMPLING},
    "server.sampling.sampling_tool": {"e:sampling": "SamplingTool"},
    "server.middleware": {"e:middleware": "Middleware MiddlewareContext CallNext=NextCall"},
    "server.middleware.middleware": {"e:middleware": "Middleware MiddlewareContext CallNext=NextCall"},
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
    "server.tasks": {"fields": "TaskConfig"},
    "server.tasks.config": {"fields": "TaskConfig"},
    "tools": {"components": f"{TOOL} {TOOL_META}", **RESULTS},
    "tools.base": {"components": "Tool", **RESULTS},
    "tools.tool": {"components": f"{TOOL} {TOOL_META}", TYPES: CONTENT_TYPES, **RESULTS},
    "tools.function_tool": {"components": f"FunctionTool {TOOL_META}", **RESULTS},
    "tools.tool_transform": {
        "components": "Tool",
        **RESULTS,
    },
    "prompts": {
        "components": f"{PROMPT} {PROMPT_META}",
        "e:resource_results": "Message PromptResult",
        TYPES: "PromptMessage",
    },
    "prompts.base": {"components": f"{PROMPT} {PROMPT_META}", "e:resource_results": "Message PromptResult"},
    "prompts.prompt": {
        "components": f"{PROMPT} {PROMPT_META}",
        "e:resource_results": "Message PromptResult",
        TYPES: "PromptMessage TextContent",
    },
    "prompts.function_prompt": {"components": f"FunctionPrompt {PROMPT_META}"},
    "resources": {
        "resources": f"{RESOURCE} {TEMPLATE} {FILES}",
        "components": RESOURCE_META,
        "e:uris": SECURITY,
        "e:resource_results": "ResourceContent ResourceResult",
    },
    "resources.security": {"e:uris": "ResourceSecurity DEFAULT_RESOURCE_SECURITY=DEFAULT INHERIT_SECURITY=INHERITED"},
    "resources.base": {"resources": "Resource", "e:resource_results": "ResourceContent ResourceResult"},
    "resources.resource": {
        "resources": RESOURCE,
        "components": RESOURCE_META,
        "e:resource_results": "ResourceContent ResourceResult",
    },
    "resources.function_resource": {"resources": RESOURCE, "components": RESOURCE_META},
    "resources.template": {"resources": f"{TEMPLATE} {TEMPLATES}"},
    "resources.types": {"resources": FILES},
    "decorators": {"components": "get_fastmcp_meta"},
    "dependencies": {"dependencies": CURRENT, "e:injection": "Dependency CallArgument CycleError"},
    "exceptions": {"e:errors": ERRORS, "sdk": "McpError MCPError", "settings": "FastMCPDeprecationWarning"},
    "settings": {"settings": "Settings ENV_FILE=settings"},
    "types": {"e:contents": "Image Audio File"},
    "utilities": {},
    "utilities.types": {"e:contents": "Image Audio File"},
    "utilities.logging": {"settings": "get_logger configure_logging temporary_log_level"},
    "utilities.lifespan": {"facades": "combine_lifespans"},
    "utilities.tasks": {"fields": "TaskConfig"},
    "apps": {"fields": "AppConfig ResourceCSP ResourcePermissions UI_MIME_TYPE UI_EXTENSION_ID"},
    "server.apps": {"fields": "AppConfig ResourceCSP ResourcePermissions UI_MIME_TYPE UI_EXTENSION_ID"},
}
"""The modules."""
PROVIDERS = (
    "auth0",
    "aws",
    "azure",
    "bearer",
    "bearer_env",
    "clerk",
    "debug",
    "descope",
    "discord",
    "github",
    "google",
    "huggingface",
    "in_memory",
    "introspection",
    "jwt",
    "keycloak",
    "oci",
    "propelauth",
    "scalekit",
    "supabase",
    "workos",
)
"""The modules of providers of authentication."""
MODULES |= {f"server.auth.providers.{name}": AUTH for name in PROVIDERS}
