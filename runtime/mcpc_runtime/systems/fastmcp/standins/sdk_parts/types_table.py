"""The protocol's types in both versions of the SDK: a text, one definition after another.

A line that begins with a blank continues the one above:

    Name = expression                    an alias, or a constant
    Name: field: Type; field: Type = 1   a model on the version's base
    Name(Base, …): field: Type?          a model on these bases; `Type?` is `Type | None = None`
    Name << method Params?               a request (or a notification, by its name): its method, and its parameters
    Name |= Type | Type                  a union; in version 1 a model that holds one of the types

A definition, a field or a type after `1 ` or `2 ` is one of that version only; ` =2 ` gives a default in version 2.
Fields have the names of version 2; in version 1 they are `camelCase`.  A field `meta` without a type is an optional
object; its alias is `_meta`.
"""

from __future__ import annotations

TABLE = """
2 MCPModel(BaseModel):
1 _Integer = StrictInt
2 _Integer = int
1 _Uri = Uri
2 _Uri = str
1 Cursor = str
RequestId = StrictInt | str
1 LATEST_PROTOCOL_VERSION = '2025-11-25'
2 LATEST_PROTOCOL_VERSION = '2026-07-28'
2 HEADER_MISMATCH = -32020
2 MISSING_REQUIRED_CLIENT_CAPABILITY = -32021
2 UNSUPPORTED_PROTOCOL_VERSION = -32022
URL_ELICITATION_REQUIRED = -32042
CONNECTION_CLOSED = -32000
2 REQUEST_TIMEOUT = -32001
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
1 ErrorData: code: int; message: str; data: Any?
2 ErrorData(BaseModel): code: int; message: str; data: Any = None
DEFAULT_NEGOTIATED_VERSION = '2025-03-26'
ProgressToken = str | int
Role = Literal['user', 'assistant']
2 IconTheme = Literal['light', 'dark']
2 Meta = Object
2 PROTOCOL_VERSION_META_KEY = 'io.modelcontextprotocol/protocolVersion'
2 CLIENT_INFO_META_KEY = 'io.modelcontextprotocol/clientInfo'
2 CLIENT_CAPABILITIES_META_KEY = 'io.modelcontextprotocol/clientCapabilities'
2 LOG_LEVEL_META_KEY = 'io.modelcontextprotocol/logLevel'
2 SERVER_INFO_META_KEY = 'io.modelcontextprotocol/serverInfo'
RequestParams: 1 task: TaskMetadata?; 1 meta: RequestParams.Meta?; 2 meta: RequestParamsMeta?
PaginatedRequestParams(RequestParams): cursor: str?
1 NotificationParams.Meta:
NotificationParams: 1 meta: NotificationParams.Meta?; 2 meta
Request(MCPModel, Generic[RequestParamsT, MethodT]): method: MethodT; params: RequestParamsT
PaginatedRequest(Request[PaginatedRequestParams | None, MethodT], Generic[MethodT]): params: PaginatedRequestParams?
Notification(MCPModel, Generic[NotificationParamsT, MethodT]): method: MethodT; params: NotificationParamsT
2 ResultType = Literal['complete', 'input_required'] | str
Result: meta
PaginatedResult(Result): next_cursor: str?
2 CacheableResult(Result): ttl_ms: Count = 0; cache_scope: Literal['public', 'private'] = 'private'
EmptyResult(Result): 2 result_type: ResultType?
BaseMetadata: name: str; title: str?
Icon: src: str; mime_type: str?; sizes: list[str]?; 2 theme: IconTheme?
Implementation(BaseMetadata): version: str; 2 description: str?; website_url: str?; icons: list[Icon]?
RootsCapability: list_changed: bool?
SamplingContextCapability:
SamplingToolsCapability:
FormElicitationCapability:
UrlElicitationCapability:
ElicitationCapability: form: FormElicitationCapability?; url: UrlElicitationCapability?
SamplingCapability: context: SamplingContextCapability?; tools: SamplingToolsCapability?
TasksListCapability:
TasksCancelCapability:
TasksCreateMessageCapability:
TasksSamplingCapability: create_message: TasksCreateMessageCapability?
TasksCreateElicitationCapability:
TasksElicitationCapability: create: TasksCreateElicitationCapability?
ClientTasksRequestsCapability: sampling: TasksSamplingCapability?; elicitation: TasksElicitationCapability?
ClientTasksCapability: list: TasksListCapability?; cancel: TasksCancelCapability?; requests:
  ClientTasksRequestsCapability?
ClientCapabilities: experimental: dict[str, Object]?; sampling: SamplingCapability?; elicitation:
  ElicitationCapability?; roots: RootsCapability?; 2 extensions: dict[str, Object]?; tasks: ClientTasksCapability?
PromptsCapability: list_changed: bool?
ResourcesCapability: subscribe: bool?; list_changed: bool?
ToolsCapability: list_changed: bool?
LoggingCapability:
CompletionsCapability:
TasksCallCapability:
TasksToolsCapability: call: TasksCallCapability?
ServerTasksRequestsCapability: tools: TasksToolsCapability?
ServerTasksCapability: list: TasksListCapability?; cancel: TasksCancelCapability?; requests:
  ServerTasksRequestsCapability?
ServerCapabilities: experimental: dict[str, Object]?; logging: LoggingCapability?; prompts: PromptsCapability?;
  resources: ResourcesCapability?; tools: ToolsCapability?; completions: CompletionsCapability?; 2 extensions:
  dict[str, Object]?; tasks: ServerTasksCapability?
InitializeRequestParams(RequestParams): 1 protocol_version: str | int; 2 protocol_version: str; capabilities:
  ClientCapabilities; client_info: Implementation
InitializeRequest << initialize InitializeRequestParams
InitializeResult(Result): 1 protocol_version: str | int; 2 protocol_version: str; capabilities: ServerCapabilities;
  server_info: Implementation; instructions: str?
InitializedNotification << notifications/initialized NotificationParams?
PingRequest << ping RequestParams?
ToolExecution: task_support: Literal['forbidden', 'optional', 'required']?
TaskMetadata: ttl: _Integer?
1 RequestParams.Meta: progress_token: ProgressToken?
ProgressNotificationParams(NotificationParams): progress_token: ProgressToken; progress: float; total: float?;
  message: str?
ProgressNotification << notifications/progress ProgressNotificationParams
ListResourcesRequest << resources/list
Annotations: audience: list[Role]?; priority: Share?; 2 last_modified: str?
Resource(BaseMetadata): uri: _Uri; description: str?; mime_type: str?; size: int?; icons: list[Icon]?; annotations:
  Annotations?; meta
ResourceTemplate(BaseMetadata): uri_template: str; description: str?; mime_type: str?; icons: list[Icon]?;
  annotations: Annotations?; meta
ListResourcesResult(PaginatedResult, CacheableResult): resources: list[Resource]; 2 result_type: ResultType =
  'complete'
ListResourceTemplatesRequest << resources/templates/list
ListResourceTemplatesResult(PaginatedResult, CacheableResult): resource_templates: list[ResourceTemplate]; 2
  result_type: ResultType = 'complete'
2 InputResponseRequestParams(RequestParams): input_responses: InputResponses?; request_state: str?
ReadResourceRequestParams(InputResponseRequestParams): uri: _Uri
ReadResourceRequest << resources/read ReadResourceRequestParams
ResourceContents: uri: _Uri; mime_type: str?; meta
TextResourceContents(ResourceContents): text: str
BlobResourceContents(ResourceContents): blob: str
ReadResourceResult(CacheableResult): contents: list[TextResourceContents | BlobResourceContents]; 2 result_type:
  ResultType = 'complete'
ResourceListChangedNotification << notifications/resources/list_changed NotificationParams?
SubscribeRequestParams(RequestParams): uri: _Uri
SubscribeRequest << resources/subscribe SubscribeRequestParams
UnsubscribeRequestParams(RequestParams): uri: _Uri
UnsubscribeRequest << resources/unsubscribe UnsubscribeRequestParams
ResourceUpdatedNotificationParams(NotificationParams): uri: _Uri
ResourceUpdatedNotification << notifications/resources/updated ResourceUpdatedNotificationParams
ListPromptsRequest << prompts/list
1 PromptArgument: name: str; description: str?; required: bool?
2 PromptArgument(BaseMetadata): description: str?; required: bool?
Prompt(BaseMetadata): description: str?; arguments: list[PromptArgument]?; icons: list[Icon]?; meta
ListPromptsResult(PaginatedResult, CacheableResult): prompts: list[Prompt]; 2 result_type: ResultType = 'complete'
GetPromptRequestParams(InputResponseRequestParams): name: str; arguments: dict[str, str]?
GetPromptRequest << prompts/get GetPromptRequestParams
TextContent: type: Literal['text'] =2 'text'; text: str; annotations: Annotations?; meta
ImageContent: type: Literal['image'] =2 'image'; data: str; mime_type: str; annotations: Annotations?; meta
AudioContent: type: Literal['audio'] =2 'audio'; data: str; mime_type: str; annotations: Annotations?; meta
ToolUseContent: type: Literal['tool_use'] =2 'tool_use'; name: str; id: str; input: Object; meta
ToolResultContent: type: Literal['tool_result'] =2 'tool_result'; tool_use_id: str; content: list[ContentBlock] = [];
  1 structured_content: Object?; 2 structured_content: Any = None; is_error: bool?; meta
SamplingMessageContentBlock = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent
SamplingContent = TextContent | ImageContent | AudioContent
SamplingMessage(ContentAsList, MCPModel): role: Role; content: SamplingMessageContentBlock |
  list[SamplingMessageContentBlock]; meta
EmbeddedResource: type: Literal['resource'] =2 'resource'; resource: TextResourceContents | BlobResourceContents;
  annotations: Annotations?; meta
ResourceLink(Resource): type: Literal['resource_link'] =2 'resource_link'
ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
1 Content = ContentBlock
PromptMessage: role: Role; content: ContentBlock
GetPromptResult(Result): description: str?; messages: list[PromptMessage]; 2 result_type: ResultType = 'complete'
PromptListChangedNotification << notifications/prompts/list_changed NotificationParams?
ListToolsRequest << tools/list
ToolAnnotations: title: str?; read_only_hint: bool?; destructive_hint: bool?; idempotent_hint: bool?; open_world_hint:
  bool?
Tool(BaseMetadata): description: str?; input_schema: Object; 2 execution: ToolExecution?; output_schema: Object?;
  icons: list[Icon]?; annotations: ToolAnnotations?; meta; 1 execution: ToolExecution?
ListToolsResult(PaginatedResult, CacheableResult): tools: list[Tool]; 2 result_type: ResultType = 'complete'
CallToolRequestParams(InputResponseRequestParams): name: str; arguments: Object?; 2 task: TaskMetadata?
CallToolRequest << tools/call CallToolRequestParams
CallToolResult(Result): content: list[ContentBlock]; 1 structured_content: Object?; 2 structured_content: Any = None;
  is_error: bool = False; 2 result_type: ResultType = 'complete'
ToolListChangedNotification << notifications/tools/list_changed NotificationParams?
LoggingLevel = Literal['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']
SetLevelRequestParams(RequestParams): level: LoggingLevel
SetLevelRequest << logging/setLevel SetLevelRequestParams
LoggingMessageNotificationParams(NotificationParams): level: LoggingLevel; logger: str?; data: Any
LoggingMessageNotification << notifications/message LoggingMessageNotificationParams
IncludeContext = Literal['none', 'thisServer', 'allServers']
ModelHint: name: str?
ModelPreferences: hints: list[ModelHint]?; cost_priority: float?; speed_priority: float?; intelligence_priority:
  float?
ToolChoice: mode: Literal['auto', 'required', 'none']?
CreateMessageRequestParams(RequestParams): messages: list[SamplingMessage]; model_preferences: ModelPreferences?;
  system_prompt: str?; include_context: IncludeContext?; temperature: float?; max_tokens: int; stop_sequences:
  list[str]?; metadata: Object?; tools: list[Tool]?; tool_choice: ToolChoice?; 2 task: TaskMetadata?
CreateMessageRequest << sampling/createMessage CreateMessageRequestParams
StopReason = Literal['endTurn', 'stopSequence', 'maxTokens', 'toolUse'] | str
CreateMessageResult(Result): role: Role; content: SamplingContent; model: str; stop_reason: StopReason?
CreateMessageResultWithTools(ContentAsList, Result): role: Role; content: SamplingMessageContentBlock |
  list[SamplingMessageContentBlock]; model: str; stop_reason: StopReason?
ResourceTemplateReference: type: Literal['ref/resource'] =2 'ref/resource'; uri: str
1 ResourceReference(ResourceTemplateReference):
PromptReference: type: Literal['ref/prompt'] =2 'ref/prompt'; name: str; 2 title: str?
CompletionArgument: name: str; value: str
CompletionContext: arguments: dict[str, str]?
CompleteRequestParams(RequestParams): ref: ResourceTemplateReference | PromptReference; argument: CompletionArgument;
  context: CompletionContext?
CompleteRequest << completion/complete CompleteRequestParams
Completion: values: list[str]; total: int?; has_more: bool?
CompleteResult(Result): completion: Completion; 2 result_type: ResultType = 'complete'
ListRootsRequest << roots/list RequestParams?
Root: uri: FileUrl; name: str?; meta
ListRootsResult(Result): roots: list[Root]
RootsListChangedNotification << notifications/roots/list_changed NotificationParams?
CancelledNotificationParams(NotificationParams): request_id: RequestId?; reason: str?
CancelledNotification << notifications/cancelled CancelledNotificationParams
ElicitCompleteNotificationParams(NotificationParams): elicitation_id: str
ElicitCompleteNotification << notifications/elicitation/complete ElicitCompleteNotificationParams
ElicitRequestedSchema = Object
ElicitRequestFormParams(RequestParams): mode: Literal['form'] = 'form'; message: str; requested_schema:
  ElicitRequestedSchema; 2 task: TaskMetadata?
ElicitRequestURLParams(RequestParams): mode: Literal['url'] = 'url'; message: str; url: str; 1 elicitation_id: str; 2
  elicitation_id: str?; 2 task: TaskMetadata?
ElicitRequestParams = ElicitRequestURLParams | ElicitRequestFormParams
ElicitRequest << elicitation/create ElicitRequestParams
ElicitResult(Result): action: Literal['accept', 'decline', 'cancel']; content: dict[str, str | int | float | bool |
  list[str] | None]?
ElicitationRequiredErrorData: elicitations: list[ElicitRequestURLParams]
2 InputRequest = CreateMessageRequest | ListRootsRequest | ElicitRequest
2 InputRequests = dict[str, InputRequest]
2 InputResponse = CreateMessageResult | CreateMessageResultWithTools | ListRootsResult | ElicitResult
2 InputResponses = dict[str, InputResponse]
2 InputRequiredResult(RequiresOne, Result): result_type: Literal['input_required'] = 'input_required'; input_requests:
  InputRequests?; request_state: str?
ServerNotification |= CancelledNotification | ProgressNotification | LoggingMessageNotification |
  ResourceUpdatedNotification | ResourceListChangedNotification | ToolListChangedNotification |
  PromptListChangedNotification | ElicitCompleteNotification
ServerResult |= EmptyResult | InitializeResult | CompleteResult | GetPromptResult |
  ListPromptsResult | ListResourcesResult | ListResourceTemplatesResult | ReadResourceResult | CallToolResult |
  ListToolsResult | 2 InputRequiredResult
"""
BOTH = {
    "BlobResourceContents": "Binary contents of a resource.",
    "Completion": "Completion information.",
    "ElicitResult": "The client's response to an elicitation request.",
    "EmbeddedResource": (
        "The contents of a resource, embedded into a prompt or tool call result.\n"
        "\n"
        "It is up to the client how best to render embedded resources for the benefit\n"
        "of the LLM and/or the user."
    ),
    "GetPromptResult": "The server's response to a prompts/get request from the client.",
    "ListPromptsResult": "The server's response to a prompts/list request from the client.",
    "ListResourceTemplatesResult": "The server's response to a resources/templates/list request from the client.",
    "ListResourcesResult": "The server's response to a resources/list request from the client.",
    "ListToolsResult": "The server's response to a tools/list request from the client.",
    "Prompt": "A prompt or prompt template that the server offers.",
    "PromptReference": "Identifies a prompt.",
    "ReadResourceResult": "The server's response to a resources/read request from the client.",
    "Resource": "A known resource that the server is capable of reading.",
    "ResourceContents": "The contents of a specific resource or sub-resource.",
    "ResourceLink": (
        "A resource that the server is capable of reading, included in a prompt or tool call result.\n"
        "\n"
        "Note: resource links returned by tools are not guaranteed to appear in the results of "
        "`resources/list` requests."
    ),
    "ResourceTemplate": "A template description for resources available on the server.",
    "ResourceTemplateReference": "A reference to a resource or resource template definition.",
    "SamplingMessage": "Describes a message issued to or received from an LLM API.",
    "TextResourceContents": "Text contents of a resource.",
    "Tool": "Definition for a tool the client can call.",
    "ToolAnnotations": (
        "Additional properties describing a Tool to clients.\n"
        "\n"
        "NOTE: all properties in ToolAnnotations are **hints**.\n"
        "They are not guaranteed to provide a faithful description of\n"
        "tool behavior (including descriptive properties like `title`).\n"
        "\n"
        "Clients should never make tool use decisions based on ToolAnnotations\n"
        "received from untrusted servers."
    ),
}
"""Both versions of the SDK say this."""
SDK1 = {
    "AudioContent": "Audio content for a message.",
    "CallToolResult": "The server's response to a tool call.",
    "CompleteResult": "The server's response to a completion/complete request",
    "Icon": "An icon for display in user interfaces.",
    "ImageContent": "Image content for a message.",
    "Implementation": "Describes the name and version of an MCP implementation.",
    "ListRootsResult": (
        "The client's response to a roots/list request from the server.\n"
        "This result contains an array of Root objects, each representing a root directory\n"
        "or file that the server can operate on."
    ),
    "PromptArgument": "An argument for a prompt template.",
    "PromptMessage": "Describes a message returned as part of a prompt.",
    "Root": "Represents a root directory or file that the server can operate on.",
    "TaskMetadata": (
        "Metadata for augmenting a request with task execution.\n"
        "Include this in the `task` field of the request parameters."
    ),
    "TextContent": "Text content for a message.",
    "ToolExecution": "Execution-related properties for a tool.",
}
"""Version 1 of the SDK says this."""
SDK2 = {
    "AudioContent": "Audio provided to or from an LLM.",
    "ImageContent": "An image provided to or from an LLM.",
    "PromptArgument": "Describes an argument that a prompt can accept.",
    "TextContent": "Text provided to or from an LLM.",
}
"""Version 2 of the SDK says this."""
