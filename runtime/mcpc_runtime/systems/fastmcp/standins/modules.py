"""The modules of the stand-ins, and what each exports: a table a package, which `standins/exports.py` reads."""

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
"""The names that come from each part, by the part."""
RESULTS = {"e:results": "ToolResult"}
AUTH = {"dependencies": "*"}

MODULES: dict[str, Row] = {
    "": {"server": "FastMCP", "context": "Context", "version": "__version__", "e:contents": "Image"},
    "server": {"server": "FastMCP", "context": "Context"},
    "server.server": {
        "server": "FastMCP",
        "context": "Context",
        "components": "Tool Prompt Resource",
    },
    "server.context": {"context": "Context", "e:elicitation": ELICITATION, "dependencies": "get_context"},
    "server.dependencies": {
        "dependencies": f"{CONTEXT} {CURRENT} AccessToken",
        "e:injection": "Dependency",
    },
    "server.elicitation": {"e:elicitation": ELICITATION},
    "server.sampling": {"context": "SamplingResult"},
    "server.sampling.run": {"context": "SamplingResult"},
    "server.middleware": {"e:mounts": "Middleware MiddlewareContext CallNext=NextCall"},
    "server.middleware.middleware": {"e:mounts": "Middleware MiddlewareContext CallNext=NextCall"},
    "server.http": {"e:web": "StarletteWithLifespan=ServedApplication", "dependencies": "get_http_request"},
    "server.event_store": {"dependencies": "EventStore=Fields"},
    "server.auth": AUTH,
    "server.auth.auth": AUTH,
    "server.auth.authorization": AUTH,
    "server.auth.oauth_proxy": AUTH,
    "server.auth.oidc_proxy": AUTH,
    "server.auth.verifiers": AUTH,
    "server.auth.middleware": AUTH,
    "server.auth.providers": AUTH,
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
        "e:server": ERRORS,
        "version": "McpError MCPError FastMCPDeprecationWarning",
    },
    "types": {"e:contents": "Image Audio File"},
    "utilities": {},
    "utilities.types": {"e:contents": "Image Audio File"},
    "utilities.logging": {"version": "get_logger configure_logging"},
}
"""The modules of FastMCP."""
PROVIDERS = (
    "auth0 aws azure bearer bearer_env clerk debug descope discord github google huggingface in_memory introspection "
    "jwt keycloak oci propelauth scalekit supabase workos"
)
"""The modules of providers of authentication."""
MODULES |= {f"server.auth.providers.{name}": AUTH for name in PROVIDERS.split()}

TYPES_OF_CLIENTS = (
    "CallToolRequest ClientCapabilities CompleteRequest CreateMessageRequest CreateMessageResult "
    "CreateMessageResultWithTools ErrorData GetPromptRequest GetPromptResult Implementation IncludeContext "
    "InitializeRequest InitializeResult InitializedNotification ListPromptsRequest ListPromptsResult "
    "ListResourcesRequest ListResourcesResult ListToolsResult LoggingLevel LoggingMessageNotification Notification "
    "PingRequest ProgressNotification PromptsCapability ReadResourceRequest ReadResourceResult Resource "
    "ResourcesCapability ResourceUpdatedNotification RootsCapability SamplingCapability SamplingContent "
    "SamplingContextCapability SamplingMessage SamplingMessageContentBlock SamplingRole=Role SamplingToolsCapability "
    "ServerCapabilities ServerNotification ServerResult SetLevelRequest StopReason SubscribeRequest Tool ToolChoice "
    "ToolResultContent ToolsCapability ToolUseContent UnsubscribeRequest"
)
URL_ERROR = (
    "UrlElicitationRequiredError@sdk1=McpUrlElicitationRequiredError "
    "UrlElicitationRequiredError@sdk2=MCPUrlElicitationRequiredError"
)
MESSAGES = "AssistantMessage Message UserMessage"
SDK_FILES = "BinaryResource FileResource FunctionResource Resource TextResource"
SDK_SECURITY = {"e:uris": "DEFAULT_RESOURCE_SECURITY@sdk2=DEFAULT ResourceSecurity@sdk2"}
SERVERS = {"decorated": "Server@sdk1", "constructed": "Server@sdk2"}
SDK_ERRORS = "InvalidSignature ResourceError ToolError"
ELICITED = "ElicitationResult"
ANSWERS = "AcceptedElicitation CancelledElicitation DeclinedElicitation"
SDK_CONTEXT = "Context"

HIGH_LEVEL: dict[str, Row] = {
    "context": {"context": SDK_CONTEXT},
    "prompts": {"tools": "Prompt PromptManager"},
    "prompts.base": {"tools": f"{MESSAGES} Prompt", "types": "PromptArgument"},
    "prompts.manager": {"tools": "PromptManager"},
    "resources": {"resources": f"{SDK_FILES} ResourceManager ResourceTemplate", **SDK_SECURITY},
    "resources.base": {"resources": "Resource"},
    "resources.resource_manager": {"resources": "ResourceManager"},
    "resources.templates": {"resources": "ResourceTemplate", **SDK_SECURITY},
    "resources.types": {"resources": SDK_FILES},
    "tools": {"tools": "Tool ToolManager"},
    "tools.base": {"tools": "Tool ToolManager"},
    "tools.tool_manager": {"tools": "Tool ToolManager"},
    "utilities": {},
    "utilities.context_injection": {"context": "find_context_parameter"},
    "utilities.logging": {"context": "configure_logging get_logger"},
    "utilities.types": {"tools": "Audio Image"},
}
"""The modules that are below the package of the high-level server in both versions."""
SDK_MODULES: dict[str, Row] = {
    "": {
        "types": TYPES_OF_CLIENTS,
        "session": f"MCPDeprecationWarning MCPError@sdk2 McpError@sdk1 {URL_ERROR} ServerSession",
        "low_level": "stdio_server",
    },
    "types": {"types": "*"},
    "server": {
        **SERVERS,
        "servers": "FastMCP@sdk1 MCPServer@sdk2",
        "requests": "InitializationOptions NotificationOptions ServerRequestContext@sdk2",
    },
    "server.fastmcp": {"tools": "Audio Image", "context": SDK_CONTEXT, "servers": "FastMCP", "types": "Icon"},
    "server.fastmcp.server": {"context": SDK_CONTEXT, "servers": "FastMCP"},
    "server.fastmcp.exceptions": {"e:server": f"FastMCPError {SDK_ERRORS} ValidationError"},
    "server.mcpserver": {
        "context": SDK_CONTEXT,
        "e:elicitation": ANSWERS,
        "session": ELICITED,
        "servers": "MCPServer",
        "tools": f"Audio Image {MESSAGES}",
        "types": "Icon",
        **SDK_SECURITY,
    },
    "server.mcpserver.server": {"context": SDK_CONTEXT, "servers": "MCPServer"},
    "server.mcpserver.exceptions": {
        "e:server": f"MCPServerError=FastMCPError {SDK_ERRORS} ResourceNotFoundError",
        "session": "UnexpectedResourceError UnexpectedToolError",
    },
    **{f"server.{package}.{name}": row for package in ("fastmcp", "mcpserver") for name, row in HIGH_LEVEL.items()},
    "server.lowlevel": {**SERVERS, "requests": "NotificationOptions"},
    "server.lowlevel.helper_types": {"requests": "ReadResourceContents"},
    "server.lowlevel.server": {
        "decorated": "Server@sdk1 request_ctx@sdk1",
        "constructed": "Server@sdk2",
        "low_level": "lifespan",
        "requests": "NotificationOptions ReadResourceContents",
    },
    "server.auth": {},
    "server.auth.middleware": {},
    "server.auth.middleware.auth_context": {"auth": "get_access_token"},
    "server.auth.middleware.bearer_auth": {"auth": "AuthenticatedUser BearerAuthBackend RequireAuthMiddleware"},
    "server.auth.provider": {
        "auth": "AccessToken RefreshToken AuthorizationCode AuthorizationParams TokenError AuthorizeError "
        "RegistrationError TokenVerifier OAuthAuthorizationServerProvider ProviderTokenVerifier "
        "OAuthClientInformationFull OAuthToken AuthorizationCodeT RefreshTokenT AccessTokenT"
    },
    "server.auth.routes": {"auth": "create_auth_routes create_protected_resource_routes"},
    "server.auth.settings": {"auth": "AuthSettings ClientRegistrationOptions RevocationOptions"},
    "server.context": {
        "requests": "ServerRequestContext LifespanContextT RequestT HandlerResult CallNext ServerMiddleware"
    },
    "server.elicitation": {
        "session": f"{ELICITED} ElicitSchemaModelT UrlElicitationResult elicit_with_validation elicit_url",
        "e:elicitation": f"{ANSWERS} AcceptedUrlElicitation",
    },
    "server.models": {"requests": "InitializationOptions"},
    "server.session": {"session": "ServerSession ServerSessionT"},
    "server.sse": {"low_level": "SseServerTransport"},
    "server.stdio": {"low_level": "stdio_server"},
    "server.streamable_http": {
        "low_level": "EventCallback EventId EventMessage EventStore StreamId MCP_PROTOCOL_VERSION_HEADER "
        "MCP_SESSION_ID_HEADER"
    },
    "server.streamable_http_manager": {
        "low_level": "StreamableHTTPSessionManager DEFAULT_MAX_SESSIONS DEFAULT_SESSION_IDLE_TIMEOUT"
    },
    "server.transport_security": {"requests": "TransportSecuritySettings DEFAULT_MAX_REQUEST_BODY_SIZE"},
    "shared": {},
    "shared.auth": {
        "auth": "OAuthToken OAuthClientMetadata OAuthClientInformationFull OAuthMetadata ProtectedResourceMetadata"
    },
    "shared.context": {"requests": "RequestContext SessionT LifespanContextT RequestT"},
    "shared.exceptions": {
        "session": f"McpError MCPError MCPDeprecationWarning {URL_ERROR}",
    },
    "shared.version": {"requests": "LATEST_PROTOCOL_VERSION SUPPORTED_PROTOCOL_VERSIONS"},
}
"""The modules of the SDK in both of its versions."""
TABLES: dict[str, dict[str, Row]] = {
    "fastmcp": MODULES,
    "mcp": SDK_MODULES,
    "mcp_types": {"": {"types": "*"}},
    "uvicorn": {"": {"e:web": "Config Server run"}},
}
"""The tables by the package that a project imports."""
