"""Stand-in of `mcp`, the official SDK, in both of its versions."""

from __future__ import annotations

from mcpc_runtime.systems.fastmcp.standins.mcp.exports import exporter

TYPES = (
    "CallToolRequest ClientCapabilities ClientNotification ClientRequest ClientResult CompleteRequest "
    "CreateMessageRequest CreateMessageResult CreateMessageResultWithTools ErrorData GetPromptRequest GetPromptResult "
    "Implementation IncludeContext InitializeRequest InitializeResult InitializedNotification JSONRPCError "
    "JSONRPCRequest JSONRPCResponse ListPromptsRequest ListPromptsResult ListResourcesRequest ListResourcesResult "
    "ListToolsResult LoggingLevel LoggingMessageNotification Notification PingRequest ProgressNotification "
    "PromptsCapability ReadResourceRequest ReadResourceResult Resource ResourcesCapability ResourceUpdatedNotification "
    "RootsCapability SamplingCapability SamplingContent SamplingContextCapability SamplingMessage "
    "SamplingMessageContentBlock SamplingToolsCapability ServerCapabilities ServerNotification ServerRequest "
    "ServerResult SetLevelRequest StopReason SubscribeRequest Tool ToolChoice ToolResultContent ToolsCapability "
    "ToolUseContent UnsubscribeRequest"
)
NAMES = {
    **{name: f"types:{name}" for name in TYPES.split()},
    "MCPDeprecationWarning": "mcp.shared.exceptions:MCPDeprecationWarning",
    "MCPError@sdk2": "mcp.shared.exceptions:MCPError",
    "McpError@sdk1": "mcp.shared.exceptions:McpError",
    "SamplingRole": "types:Role",
    "ServerSession": "mcp.server.session:ServerSession",
    "UrlElicitationRequiredError": "mcp.shared.exceptions:UrlElicitationRequiredError",
    "stdio_server": "mcp.server.stdio:stdio_server",
}
__getattr__ = exporter("mcp", NAMES)
