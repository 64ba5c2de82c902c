"""The modules of the stand-in `mcp`, the SDK in both of its versions: a table, which `standins/exports.py` reads."""

from __future__ import annotations

TYPES = (
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
FILES = "BinaryResource FileResource FunctionResource Resource TextResource"
SECURITY = {"e:uris": "DEFAULT_RESOURCE_SECURITY@sdk2=DEFAULT ResourceSecurity@sdk2"}
SERVERS = {"decorated": "Server@sdk1", "constructed": "Server@sdk2"}
ERRORS = "InvalidSignature ResourceError ToolError"
ELICITATION = "AcceptedElicitation ElicitationResult"
ANSWERS = "CancelledElicitation DeclinedElicitation"
CONTEXT = "Context"

Row = dict[str, str]
HIGH_LEVEL: dict[str, Row] = {
    "context": {"context": CONTEXT},
    "prompts": {"tools": "Prompt PromptManager"},
    "prompts.base": {"tools": f"{MESSAGES} Prompt", "types": "PromptArgument"},
    "prompts.manager": {"tools": "PromptManager"},
    "resources": {"resources": f"{FILES} ResourceManager ResourceTemplate", **SECURITY},
    "resources.base": {"resources": "Resource"},
    "resources.resource_manager": {"resources": "ResourceManager"},
    "resources.templates": {"resources": "ResourceTemplate", **SECURITY},
    "resources.types": {"resources": FILES},
    "tools": {"tools": "Tool ToolManager"},
    "tools.base": {"tools": "Tool ToolManager"},
    "tools.tool_manager": {"tools": "Tool ToolManager"},
    "utilities": {},
    "utilities.context_injection": {"context": "find_context_parameter"},
    "utilities.logging": {"context": "configure_logging get_logger"},
    "utilities.types": {"tools": "Audio Image"},
}
"""The modules that are below the package of the high-level server in both versions."""
MODULES: dict[str, Row] = {
    "": {
        "types": TYPES,
        "session": f"MCPDeprecationWarning MCPError@sdk2 McpError@sdk1 {URL_ERROR} ServerSession",
        "low_level": "stdio_server",
    },
    "types": {"types": "*"},
    "types.version": {"t:version": "*"},
    "server": {
        **SERVERS,
        "fastmcp": "FastMCP@sdk1",
        "mcpserver": "MCPServer@sdk2",
        "requests": "InitializationOptions NotificationOptions ServerRequestContext@sdk2",
    },
    "server.fastmcp": {"tools": "Audio Image", "context": CONTEXT, "fastmcp": "FastMCP", "types": "Icon"},
    "server.fastmcp.server": {"context": CONTEXT, "fastmcp": "FastMCP"},
    "server.fastmcp.exceptions": {"e:errors": f"FastMCPError {ERRORS} ValidationError"},
    "server.mcpserver": {
        "context": CONTEXT,
        "e:elicitation": ANSWERS,
        "session": ELICITATION,
        "mcpserver": "MCPServer",
        "tools": f"Audio Image {MESSAGES}",
        "types": "Icon",
        **SECURITY,
    },
    "server.mcpserver.server": {"context": CONTEXT, "mcpserver": "MCPServer"},
    "server.mcpserver.exceptions": {
        "e:errors": f"MCPServerError=FastMCPError {ERRORS} ResourceNotFoundError",
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
        "session": f"{ELICITATION} ElicitSchemaModelT UrlElicitationResult elicit_with_validation elicit_url",
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
    "shared.message": {"requests": "SessionMessage"},
    "shared.metadata_utils": {"requests": "get_display_name"},
    "shared.version": {"requests": "LATEST_PROTOCOL_VERSION SUPPORTED_PROTOCOL_VERSIONS"},
}
"""The modules."""
