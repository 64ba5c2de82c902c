"""The decorators and keywords of the servers of frameworks, for misspelt ones: those of all versions."""

from __future__ import annotations

HIGH_LEVEL = ("FastMCP", "MCPServer")
DECORATORS = {
    **dict.fromkeys(HIGH_LEVEL, ("completion", "custom_route", "prompt", "resource", "tool")),
    "Server": (
        *("call_tool", "completion", "get_prompt", "list_prompts", "list_resource_templates", "list_resources"),
        *("list_tools", "progress_notification", "read_resource", "set_logging_level", "subscribe_resource"),
        "unsubscribe_resource",
    ),
}
"""The decorators of a server, by its class."""
CERTAIN = 0.75
"""How similar a name must be to a known one: a framework may have others."""
COMPONENT = (
    "annotations",
    "auth",
    "description",
    "enabled",
    "icons",
    "meta",
    "name",
    "tags",
    "task",
    "title",
    "version",
)
SERVER = (
    *("auth", "auth_server_provider", "cache_expiration_seconds", "cache_scope", "cache_ttl", "client_log_level"),
    *("debug", "dependencies", "dereference_schemas", "event_store", "exclude_tags", "experimental_capabilities"),
    *("host", "icons", "include_fastmcp_meta", "include_tags", "instructions", "json_response", "lifespan"),
    *("list_page_size", "log_level", "mask_error_details", "message_path", "middleware", "mount_path", "name"),
    *("on_duplicate", "on_duplicate_prompts", "on_duplicate_resources", "on_duplicate_tools", "port", "providers"),
    *("request_state_security", "resource_prefix_format", "resource_security", "retry_interval", "sampling_handler"),
    *("sampling_handler_behavior", "session_state_store", "sse_path", "stateless_http", "streamable_http_path"),
    *("strict_input_validation", "tasks", "title", "token_verifier", "tool_serializer", "tool_transformations"),
    *("tools", "transforms", "transport_security", "version", "warn_on_duplicate_prompts", "website_url"),
    *("warn_on_duplicate_resources", "warn_on_duplicate_tools", "description"),
)
RUN = (
    *("host", "json_response", "log_level", "middleware", "mount_path", "path", "port", "show_banner", "stateless"),
    *("stateless_http", "transport", "uvicorn_config"),
)
TRANSPORTS = ("http", "sse", "stdio", "streamable-http")
KEYWORDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(HIGH_LEVEL, SERVER),
    **dict.fromkeys(("run", "run_async"), RUN),
    "prompt": COMPONENT,
    "resource": (*COMPONENT, "app", "mime_type", "security", "size", "uri"),
    "tool": (
        *(*COMPONENT, "app", "exclude_args", "name_or_fn", "output_schema", "run_in_thread", "serializer"),
        *("structured_output", "timeout"),
    ),
}
"""The keywords of a server, of its decorators, and of what serves it."""
CLASSES = {
    "fastmcp": ("Client", "Context", "FastMCP"),
    "mcp.server.fastmcp": ("Context", "FastMCP", "Image"),
    "mcp.server.mcpserver": ("Context", "Image", "MCPServer"),
}
"""The classes that programs import from a module."""
