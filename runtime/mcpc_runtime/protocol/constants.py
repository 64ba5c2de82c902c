"""Constants of the protocol, shared by the runtime and the compiler."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002
"""Used in the handshake era; the stateless era uses INVALID_PARAMS."""
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_PROTOCOL_VERSION = -32022

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo"
LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
TASKS_EXTENSION = "io.modelcontextprotocol/tasks"
SKILLS_EXTENSION = "io.modelcontextprotocol/skills"
APPS_EXTENSION = "io.modelcontextprotocol/ui"
SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"
TIMEOUT_KEY = "mcpc/timeout"
"""With this key a request may ask for a shorter time limit, in seconds."""

LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

MAX_MESSAGE_BYTES = 18 << 20
"""A longer line is refused without parsing; the limit leaves room for an argument of 16 MiB."""
