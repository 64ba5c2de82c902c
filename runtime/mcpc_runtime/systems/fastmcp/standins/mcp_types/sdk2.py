"""The protocol's types as version 2 of the SDK has them in `mcp_types`."""

from __future__ import annotations

from typing import Any

from mcpc_runtime.lazy import resolve
from mcpc_runtime.systems.fastmcp.interfaces import Object
from mcpc_runtime.systems.fastmcp.standins.mcp_types.definitions import BOTH, SDK2, Definitions

TABLE = """
MCPModel(BaseModel):
RequestId = StrictInt | str
JSONRPC_VERSION = '2.0'
LATEST_PROTOCOL_VERSION = '2026-07-28'
JSONRPCRequest(BaseModel): jsonrpc: Literal['2.0']; id: RequestId; method: str; params: Object?
JSONRPCNotification(BaseModel): jsonrpc: Literal['2.0']; method: str; params: Object?
JSONRPCResponse(BaseModel): jsonrpc: Literal['2.0']; id: RequestId; result: Object
HEADER_MISMATCH = -32020
MISSING_REQUIRED_CLIENT_CAPABILITY = -32021
UNSUPPORTED_PROTOCOL_VERSION = -32022
URL_ELICITATION_REQUIRED = -32042
CONNECTION_CLOSED = -32000
REQUEST_TIMEOUT = -32001
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
ErrorData(BaseModel): code: int; message: str; data: Any = None
JSONRPCError(BaseModel): jsonrpc: Literal['2.0']; id: RequestId | None; error: ErrorData
JSONRPCMessage = JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError
jsonrpc_message_adapter = TypeAdapter[JSONRPCMessage]
DEFAULT_NEGOTIATED_VERSION = '2025-03-26'
ProgressToken = str | int
Role = Literal['user', 'assistant']
IconTheme = Literal['light', 'dark']
Meta = Object
PROTOCOL_VERSION_META_KEY = 'io.modelcontextprotocol/protocolVersion'
CLIENT_INFO_META_KEY = 'io.modelcontextprotocol/clientInfo'
CLIENT_CAPABILITIES_META_KEY = 'io.modelcontextprotocol/clientCapabilities'
LOG_LEVEL_META_KEY = 'io.modelcontextprotocol/logLevel'
SERVER_INFO_META_KEY = 'io.modelcontextprotocol/serverInfo'
RequestParams: meta: RequestParamsMeta?
PaginatedRequestParams(RequestParams): cursor: str?
NotificationParams: meta
Request(MCPModel, Generic[RequestParamsT, MethodT]): method: MethodT; params: RequestParamsT
PaginatedRequest(Request[PaginatedRequestParams | None, MethodT], Generic[MethodT]): params: PaginatedRequestParams?
Notification(MCPModel, Generic[NotificationParamsT, MethodT]): method: MethodT; params: NotificationParamsT
ResultType = Literal['complete', 'input_required'] | str
Result: meta
PaginatedResult(Result): next_cursor: str?
CacheableResult(Result): ttl_ms: Count = 0; cache_scope: Literal['public', 'private'] = 'private'
EmptyResult(Result): result_type: ResultType?
BaseMetadata: name: str; title: str?
Icon: src: str; mime_type: str?; sizes: list[str]?; theme: IconTheme?
Implementation(BaseMetadata): version: str; description: str?; website_url: str?; icons: list[Icon]?
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
  ElicitationCapability?; roots: RootsCapability?; extensions: dict[str, Object]?; tasks: ClientTasksCapability?
UnsupportedProtocolVersionErrorData: supported: list[str]; requested: str
MissingRequiredClientCapabilityErrorData: required_capabilities: ClientCapabilities
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
  resources: ResourcesCapability?; tools: ToolsCapability?; completions: CompletionsCapability?; extensions: dict[str,
  Object]?; tasks: ServerTasksCapability?
InitializeRequestParams(RequestParams): protocol_version: str; capabilities: ClientCapabilities; client_info:
  Implementation
InitializeRequest << initialize InitializeRequestParams
InitializeResult(Result): protocol_version: str; capabilities: ServerCapabilities; server_info: Implementation;
  instructions: str?
InitializedNotification << notifications/initialized NotificationParams?
PingRequest << ping RequestParams?
DiscoverRequest << server/discover RequestParams?
DiscoverResult(CacheableResult): supported_versions: list[str]; capabilities: ServerCapabilities; instructions: str?;
  result_type: ResultType = 'complete'
ToolExecution: task_support: Literal['forbidden', 'optional', 'required']?
TaskMetadata: ttl: int?
RelatedTaskMetadata: task_id: str
TaskStatus = Literal['working', 'input_required', 'completed', 'failed', 'cancelled']
Task: task_id: str; status: TaskStatus; status_message: str?; created_at: str; last_updated_at: str; ttl: int | None;
  poll_interval: int?
CreateTaskResult(Result): task: Task
GetTaskRequestParams(RequestParams): task_id: str
GetTaskRequest << tasks/get GetTaskRequestParams
GetTaskResult(Result, Task):
CancelTaskRequestParams(RequestParams): task_id: str
CancelTaskRequest << tasks/cancel CancelTaskRequestParams
CancelTaskResult(Result, Task):
TaskStatusNotificationParams(NotificationParams, Task):
TaskStatusNotification << notifications/tasks/status TaskStatusNotificationParams
GetTaskPayloadRequestParams(RequestParams): task_id: str
GetTaskPayloadRequest << tasks/result GetTaskPayloadRequestParams
GetTaskPayloadResult(Result):
ListTasksRequest << tasks/list
ListTasksResult(PaginatedResult): tasks: list[Task]
ProgressNotificationParams(NotificationParams): progress_token: ProgressToken; progress: float; total: float?;
  message: str?
ProgressNotification << notifications/progress ProgressNotificationParams
ListResourcesRequest << resources/list
Annotations: audience: list[Role]?; priority: Share?; last_modified: str?
Resource(BaseMetadata): uri: str; description: str?; mime_type: str?; size: int?; icons: list[Icon]?; annotations:
  Annotations?; meta
ResourceTemplate(BaseMetadata): uri_template: str; description: str?; mime_type: str?; icons: list[Icon]?;
  annotations: Annotations?; meta
ListResourcesResult(PaginatedResult, CacheableResult): resources: list[Resource]; result_type: ResultType = 'complete'
ListResourceTemplatesRequest << resources/templates/list
ListResourceTemplatesResult(PaginatedResult, CacheableResult): resource_templates: list[ResourceTemplate];
  result_type: ResultType = 'complete'
InputResponseRequestParams(RequestParams): input_responses: InputResponses?; request_state: str?
ReadResourceRequestParams(InputResponseRequestParams): uri: str
ReadResourceRequest << resources/read ReadResourceRequestParams
ResourceContents: uri: str; mime_type: str?; meta
TextResourceContents(ResourceContents): text: str
BlobResourceContents(ResourceContents): blob: str
ReadResourceResult(CacheableResult): contents: list[TextResourceContents | BlobResourceContents]; result_type:
  ResultType = 'complete'
ResourceListChangedNotification << notifications/resources/list_changed NotificationParams?
SubscribeRequestParams(RequestParams): uri: str
SubscribeRequest << resources/subscribe SubscribeRequestParams
UnsubscribeRequestParams(RequestParams): uri: str
UnsubscribeRequest << resources/unsubscribe UnsubscribeRequestParams
ResourceUpdatedNotificationParams(NotificationParams): uri: str
ResourceUpdatedNotification << notifications/resources/updated ResourceUpdatedNotificationParams
SubscriptionFilter: tools_list_changed: bool?; prompts_list_changed: bool?; resources_list_changed: bool?;
  resource_subscriptions: list[str]?
SubscriptionsListenRequestParams(RequestParams): notifications: SubscriptionFilter
SubscriptionsListenRequest << subscriptions/listen SubscriptionsListenRequestParams
SubscriptionsAcknowledgedNotificationParams(NotificationParams): notifications: SubscriptionFilter
SubscriptionsAcknowledgedNotification << notifications/subscriptions/acknowledged
  SubscriptionsAcknowledgedNotificationParams
SubscriptionsListenResult(Result): result_type: ResultType = 'complete'
ListPromptsRequest << prompts/list
PromptArgument(BaseMetadata): description: str?; required: bool?
Prompt(BaseMetadata): description: str?; arguments: list[PromptArgument]?; icons: list[Icon]?; meta
ListPromptsResult(PaginatedResult, CacheableResult): prompts: list[Prompt]; result_type: ResultType = 'complete'
GetPromptRequestParams(InputResponseRequestParams): name: str; arguments: dict[str, str]?
GetPromptRequest << prompts/get GetPromptRequestParams
TextContent: type: Literal['text'] = 'text'; text: str; annotations: Annotations?; meta
ImageContent: type: Literal['image'] = 'image'; data: str; mime_type: str; annotations: Annotations?; meta
AudioContent: type: Literal['audio'] = 'audio'; data: str; mime_type: str; annotations: Annotations?; meta
ToolUseContent: type: Literal['tool_use'] = 'tool_use'; name: str; id: str; input: Object; meta
ToolResultContent: type: Literal['tool_result'] = 'tool_result'; tool_use_id: str; content: list[ContentBlock] = [];
  structured_content: Any = None; is_error: bool?; meta
SamplingMessageContentBlock = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent
SamplingContent = TextContent | ImageContent | AudioContent
SamplingMessage(ContentAsList, MCPModel): role: Role; content: SamplingMessageContentBlock |
  list[SamplingMessageContentBlock]; meta
EmbeddedResource: type: Literal['resource'] = 'resource'; resource: TextResourceContents | BlobResourceContents;
  annotations: Annotations?; meta
ResourceLink(Resource): type: Literal['resource_link'] = 'resource_link'
ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
PromptMessage: role: Role; content: ContentBlock
GetPromptResult(Result): description: str?; messages: list[PromptMessage]; result_type: ResultType = 'complete'
PromptListChangedNotification << notifications/prompts/list_changed NotificationParams?
ListToolsRequest << tools/list
ToolAnnotations: title: str?; read_only_hint: bool?; destructive_hint: bool?; idempotent_hint: bool?; open_world_hint:
  bool?
Tool(BaseMetadata): description: str?; input_schema: Object; execution: ToolExecution?; output_schema: Object?; icons:
  list[Icon]?; annotations: ToolAnnotations?; meta
ListToolsResult(PaginatedResult, CacheableResult): tools: list[Tool]; result_type: ResultType = 'complete'
CallToolRequestParams(InputResponseRequestParams): name: str; arguments: Object?; task: TaskMetadata?
CallToolRequest << tools/call CallToolRequestParams
CallToolResult(Result): content: list[ContentBlock]; structured_content: Any = None; is_error: bool = False;
  result_type: ResultType = 'complete'
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
  list[str]?; metadata: Object?; tools: list[Tool]?; tool_choice: ToolChoice?; task: TaskMetadata?
CreateMessageRequest << sampling/createMessage CreateMessageRequestParams
StopReason = Literal['endTurn', 'stopSequence', 'maxTokens', 'toolUse'] | str
CreateMessageResult(Result): role: Role; content: SamplingContent; model: str; stop_reason: StopReason?
CreateMessageResultWithTools(ContentAsList, Result): role: Role; content: SamplingMessageContentBlock |
  list[SamplingMessageContentBlock]; model: str; stop_reason: StopReason?
ResourceTemplateReference: type: Literal['ref/resource'] = 'ref/resource'; uri: str
PromptReference: type: Literal['ref/prompt'] = 'ref/prompt'; name: str; title: str?
CompletionArgument: name: str; value: str
CompletionContext: arguments: dict[str, str]?
CompleteRequestParams(RequestParams): ref: ResourceTemplateReference | PromptReference; argument: CompletionArgument;
  context: CompletionContext?
CompleteRequest << completion/complete CompleteRequestParams
Completion: values: list[str]; total: int?; has_more: bool?
CompleteResult(Result): completion: Completion; result_type: ResultType = 'complete'
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
  ElicitRequestedSchema; task: TaskMetadata?
ElicitRequestURLParams(RequestParams): mode: Literal['url'] = 'url'; message: str; url: str; elicitation_id: str?;
  task: TaskMetadata?
ElicitRequestParams = ElicitRequestURLParams | ElicitRequestFormParams
ElicitRequest << elicitation/create ElicitRequestParams
ElicitResult(Result): action: Literal['accept', 'decline', 'cancel']; content: dict[str, str | int | float | bool |
  list[str] | None]?
ElicitationRequiredErrorData: elicitations: list[ElicitRequestURLParams]
InputRequest = CreateMessageRequest | ListRootsRequest | ElicitRequest
InputRequests = dict[str, InputRequest]
InputResponse = CreateMessageResult | CreateMessageResultWithTools | ListRootsResult | ElicitResult
InputResponses = dict[str, InputResponse]
InputRequiredResult(RequiresOne, Result): result_type: Literal['input_required'] = 'input_required'; input_requests:
  InputRequests?; request_state: str?
ClientRequest = PingRequest | InitializeRequest | CompleteRequest | SetLevelRequest | GetPromptRequest |
  ListPromptsRequest | ListResourcesRequest | ListResourceTemplatesRequest | ReadResourceRequest | SubscribeRequest |
  UnsubscribeRequest | CallToolRequest | ListToolsRequest | DiscoverRequest | SubscriptionsListenRequest
client_request_adapter = TypeAdapter[ClientRequest]
ClientNotification = CancelledNotification | ProgressNotification | InitializedNotification |
  RootsListChangedNotification
client_notification_adapter = TypeAdapter[ClientNotification]
ClientResult = EmptyResult | CreateMessageResult | CreateMessageResultWithTools | ListRootsResult | ElicitResult
client_result_adapter = TypeAdapter[ClientResult]
ServerRequest = PingRequest | CreateMessageRequest | ListRootsRequest | ElicitRequest
server_request_adapter = TypeAdapter[ServerRequest]
ServerNotification = CancelledNotification | ProgressNotification | LoggingMessageNotification |
  ResourceUpdatedNotification | ResourceListChangedNotification | ToolListChangedNotification |
  PromptListChangedNotification | ElicitCompleteNotification | SubscriptionsAcknowledgedNotification
server_notification_adapter = TypeAdapter[ServerNotification]
ServerResult = EmptyResult | InitializeResult | DiscoverResult | CompleteResult | GetPromptResult | ListPromptsResult
  | ListResourcesResult | ListResourceTemplatesResult | ReadResourceResult | CallToolResult | ListToolsResult |
  SubscriptionsListenResult | InputRequiredResult
server_result_adapter = TypeAdapter[ServerResult]
"""


def config(name: str) -> Object:
    """Return the configuration of a model."""
    if name == "MCPModel":
        return {"alias_generator": resolve("pydantic.alias_generators:to_camel"), "populate_by_name": True}
    return {"extra": "allow"} if name == "SubscriptionFilter" else {}


def request_meta(definitions: Definitions) -> Any:
    """Make the type of a request's `_meta`: an open dictionary."""
    extensions = __import__("typing_extensions")
    fields = {"progress_token": extensions.NotRequired[definitions.find("ProgressToken")]}
    return extensions.TypedDict("RequestParamsMeta", fields, extra_items=Any)


def requires_one(_: Definitions) -> Any:
    """Make the base of the result that asks for input: it has requests, or a state."""
    pydantic = __import__("pydantic")

    def require_one_field(self: Any) -> Any:
        if not self.input_requests and self.request_state is None:
            raise ValueError("InputRequiredResult requires at least one of input_requests or request_state")
        return self

    namespace = {"require_one_field": pydantic.model_validator(mode="after")(require_one_field)}
    return type("RequiresOne", (pydantic.BaseModel,), {"__module__": __name__, **namespace})


DEFINITIONS = Definitions(
    "mcp_types",
    TABLE,
    base="MCPModel",
    descriptions={**BOTH, **SDK2},
    config=config,
    extra={
        "CORE_RESULT_TYPES": lambda _: frozenset({"complete", "input_required"}),
        "RequestParamsMeta": request_meta,
        "RequiresOne": requires_one,
    },
)
