"""The protocol's types as version 1 of the SDK has them in `mcp.types`."""

from __future__ import annotations

from typing import Any

from mcpc_runtime.systems.fastmcp.interfaces import Object
from mcpc_runtime.systems.fastmcp.standins.mcp_types.definitions import BOTH, SDK1, Definitions

TABLE = """
LATEST_PROTOCOL_VERSION = '2025-11-25'
DEFAULT_NEGOTIATED_VERSION = '2025-03-26'
ProgressToken = str | int
Cursor = str
Role = Literal['user', 'assistant']
RequestId = StrictInt | str
TaskExecutionMode = Literal['forbidden', 'optional', 'required']
TASK_FORBIDDEN = 'forbidden'
TASK_OPTIONAL = 'optional'
TASK_REQUIRED = 'required'
TaskMetadata: ttl: StrictInt?
RequestParams.Meta: progressToken: ProgressToken?
RequestParams: task: TaskMetadata?; meta: RequestParams.Meta?
PaginatedRequestParams(RequestParams): cursor: Cursor?
NotificationParams.Meta:
NotificationParams: meta: NotificationParams.Meta?
Request(BaseModel, Generic[RequestParamsT, MethodT]): method: MethodT; params: RequestParamsT
PaginatedRequest(Request[PaginatedRequestParams | None, MethodT], Generic[MethodT]): params: PaginatedRequestParams?
Notification(BaseModel, Generic[NotificationParamsT, MethodT]): method: MethodT; params: NotificationParamsT
Result: meta
PaginatedResult(Result): nextCursor: Cursor?
JSONRPCRequest(Request[Object | None, str]): jsonrpc: Literal['2.0']; id: RequestId; method: str; params: Object?
JSONRPCNotification(Notification[Object | None, str]): jsonrpc: Literal['2.0']; params: Object?
JSONRPCResponse: jsonrpc: Literal['2.0']; id: RequestId; result: Object
URL_ELICITATION_REQUIRED = -32042
CONNECTION_CLOSED = -32000
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
ErrorData: code: int; message: str; data: Any?
JSONRPCError: jsonrpc: Literal['2.0']; id: str | int; error: ErrorData
JSONRPCMessage(RootModel[JSONRPCRequest | JSONRPCNotification | JSONRPCResponse | JSONRPCError]):
EmptyResult(Result):
BaseMetadata: name: str; title: str?
Icon: src: str; mimeType: str?; sizes: list[str]?
Implementation(BaseMetadata): version: str; websiteUrl: str?; icons: list[Icon]?
RootsCapability: listChanged: bool?
SamplingContextCapability:
SamplingToolsCapability:
FormElicitationCapability:
UrlElicitationCapability:
ElicitationCapability: form: FormElicitationCapability?; url: UrlElicitationCapability?
SamplingCapability: context: SamplingContextCapability?; tools: SamplingToolsCapability?
TasksListCapability:
TasksCancelCapability:
TasksCreateMessageCapability:
TasksSamplingCapability: createMessage: TasksCreateMessageCapability?
TasksCreateElicitationCapability:
TasksElicitationCapability: create: TasksCreateElicitationCapability?
ClientTasksRequestsCapability: sampling: TasksSamplingCapability?; elicitation: TasksElicitationCapability?
ClientTasksCapability: list: TasksListCapability?; cancel: TasksCancelCapability?; requests:
  ClientTasksRequestsCapability?
ClientCapabilities: experimental: dict[str, Object]?; sampling: SamplingCapability?; elicitation:
  ElicitationCapability?; roots: RootsCapability?; tasks: ClientTasksCapability?
PromptsCapability: listChanged: bool?
ResourcesCapability: subscribe: bool?; listChanged: bool?
ToolsCapability: listChanged: bool?
LoggingCapability:
CompletionsCapability:
TasksCallCapability:
TasksToolsCapability: call: TasksCallCapability?
ServerTasksRequestsCapability: tools: TasksToolsCapability?
ServerTasksCapability: list: TasksListCapability?; cancel: TasksCancelCapability?; requests:
  ServerTasksRequestsCapability?
ServerCapabilities: experimental: dict[str, Object]?; logging: LoggingCapability?; prompts: PromptsCapability?;
  resources: ResourcesCapability?; tools: ToolsCapability?; completions: CompletionsCapability?; tasks:
  ServerTasksCapability?
TaskStatus = Literal['working', 'input_required', 'completed', 'failed', 'cancelled']
TASK_STATUS_WORKING = 'working'
TASK_STATUS_INPUT_REQUIRED = 'input_required'
TASK_STATUS_COMPLETED = 'completed'
TASK_STATUS_FAILED = 'failed'
TASK_STATUS_CANCELLED = 'cancelled'
RelatedTaskMetadata: taskId: str
Task: taskId: str; status: TaskStatus; statusMessage: str?; createdAt: datetime; lastUpdatedAt: datetime; ttl:
  StrictInt | None; pollInterval: StrictInt?
CreateTaskResult(Result): task: Task
GetTaskRequestParams(RequestParams): taskId: str
GetTaskRequest << tasks/get GetTaskRequestParams
GetTaskResult(Result, Task):
GetTaskPayloadRequestParams(RequestParams): taskId: str
GetTaskPayloadRequest << tasks/result GetTaskPayloadRequestParams
GetTaskPayloadResult(Result):
CancelTaskRequestParams(RequestParams): taskId: str
CancelTaskRequest << tasks/cancel CancelTaskRequestParams
CancelTaskResult(Result, Task):
ListTasksRequest << tasks/list
ListTasksResult(PaginatedResult): tasks: list[Task]
TaskStatusNotificationParams(NotificationParams, Task):
TaskStatusNotification << notifications/tasks/status TaskStatusNotificationParams
InitializeRequestParams(RequestParams): protocolVersion: str | int; capabilities: ClientCapabilities; clientInfo:
  Implementation
InitializeRequest << initialize InitializeRequestParams
InitializeResult(Result): protocolVersion: str | int; capabilities: ServerCapabilities; serverInfo: Implementation;
  instructions: str?
InitializedNotification << notifications/initialized NotificationParams?
PingRequest << ping RequestParams?
ProgressNotificationParams(NotificationParams): progressToken: ProgressToken; progress: float; total: float?; message:
  str?
ProgressNotification << notifications/progress ProgressNotificationParams
ListResourcesRequest << resources/list
Annotations: audience: list[Role]?; priority: Share?
Resource(BaseMetadata): uri: Uri; description: str?; mimeType: str?; size: int?; icons: list[Icon]?; annotations:
  Annotations?; meta
ResourceTemplate(BaseMetadata): uriTemplate: str; description: str?; mimeType: str?; icons: list[Icon]?; annotations:
  Annotations?; meta
ListResourcesResult(PaginatedResult): resources: list[Resource]
ListResourceTemplatesRequest << resources/templates/list
ListResourceTemplatesResult(PaginatedResult): resourceTemplates: list[ResourceTemplate]
ReadResourceRequestParams(RequestParams): uri: Uri
ReadResourceRequest << resources/read ReadResourceRequestParams
ResourceContents: uri: Uri; mimeType: str?; meta
TextResourceContents(ResourceContents): text: str
BlobResourceContents(ResourceContents): blob: str
ReadResourceResult(Result): contents: list[TextResourceContents | BlobResourceContents]
ResourceListChangedNotification << notifications/resources/list_changed NotificationParams?
SubscribeRequestParams(RequestParams): uri: Uri
SubscribeRequest << resources/subscribe SubscribeRequestParams
UnsubscribeRequestParams(RequestParams): uri: Uri
UnsubscribeRequest << resources/unsubscribe UnsubscribeRequestParams
ResourceUpdatedNotificationParams(NotificationParams): uri: Uri
ResourceUpdatedNotification << notifications/resources/updated ResourceUpdatedNotificationParams
ListPromptsRequest << prompts/list
PromptArgument: name: str; description: str?; required: bool?
Prompt(BaseMetadata): description: str?; arguments: list[PromptArgument]?; icons: list[Icon]?; meta
ListPromptsResult(PaginatedResult): prompts: list[Prompt]
GetPromptRequestParams(RequestParams): name: str; arguments: dict[str, str]?
GetPromptRequest << prompts/get GetPromptRequestParams
TextContent: type: Literal['text']; text: str; annotations: Annotations?; meta
ImageContent: type: Literal['image']; data: str; mimeType: str; annotations: Annotations?; meta
AudioContent: type: Literal['audio']; data: str; mimeType: str; annotations: Annotations?; meta
ToolUseContent: type: Literal['tool_use']; name: str; id: str; input: Object; meta
ToolResultContent: type: Literal['tool_result']; toolUseId: str; content: list[ContentBlock] = []; structuredContent:
  Object?; isError: bool?; meta
SamplingMessageContentBlock = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent
SamplingContent = TextContent | ImageContent | AudioContent
SamplingMessage(ContentAsList, BaseModel): role: Role; content: SamplingMessageContentBlock |
  list[SamplingMessageContentBlock]; meta
EmbeddedResource: type: Literal['resource']; resource: TextResourceContents | BlobResourceContents; annotations:
  Annotations?; meta
ResourceLink(Resource): type: Literal['resource_link']
ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
Content = ContentBlock
PromptMessage: role: Role; content: ContentBlock
GetPromptResult(Result): description: str?; messages: list[PromptMessage]
PromptListChangedNotification << notifications/prompts/list_changed NotificationParams?
ListToolsRequest << tools/list
ToolAnnotations: title: str?; readOnlyHint: bool?; destructiveHint: bool?; idempotentHint: bool?; openWorldHint: bool?
ToolExecution: taskSupport: TaskExecutionMode?
Tool(BaseMetadata): description: str?; inputSchema: Object; outputSchema: Object?; icons: list[Icon]?; annotations:
  ToolAnnotations?; meta; execution: ToolExecution?
ListToolsResult(PaginatedResult): tools: list[Tool]
CallToolRequestParams(RequestParams): name: str; arguments: Object?
CallToolRequest << tools/call CallToolRequestParams
CallToolResult(Result): content: list[ContentBlock]; structuredContent: Object?; isError: bool = False
ToolListChangedNotification << notifications/tools/list_changed NotificationParams?
LoggingLevel = Literal['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']
SetLevelRequestParams(RequestParams): level: LoggingLevel
SetLevelRequest << logging/setLevel SetLevelRequestParams
LoggingMessageNotificationParams(NotificationParams): level: LoggingLevel; logger: str?; data: Any
LoggingMessageNotification << notifications/message LoggingMessageNotificationParams
IncludeContext = Literal['none', 'thisServer', 'allServers']
ModelHint: name: str?
ModelPreferences: hints: list[ModelHint]?; costPriority: float?; speedPriority: float?; intelligencePriority: float?
ToolChoice: mode: Literal['auto', 'required', 'none']?
CreateMessageRequestParams(RequestParams): messages: list[SamplingMessage]; modelPreferences: ModelPreferences?;
  systemPrompt: str?; includeContext: IncludeContext?; temperature: float?; maxTokens: int; stopSequences: list[str]?;
  metadata: Object?; tools: list[Tool]?; toolChoice: ToolChoice?
CreateMessageRequest << sampling/createMessage CreateMessageRequestParams
StopReason = Literal['endTurn', 'stopSequence', 'maxTokens', 'toolUse'] | str
CreateMessageResult(Result): role: Role; content: SamplingContent; model: str; stopReason: StopReason?
CreateMessageResultWithTools(ContentAsList, Result): role: Role; content: SamplingMessageContentBlock |
  list[SamplingMessageContentBlock]; model: str; stopReason: StopReason?
ResourceTemplateReference: type: Literal['ref/resource']; uri: str
ResourceReference(ResourceTemplateReference):
PromptReference: type: Literal['ref/prompt']; name: str
CompletionArgument: name: str; value: str
CompletionContext: arguments: dict[str, str]?
CompleteRequestParams(RequestParams): ref: ResourceTemplateReference | PromptReference; argument: CompletionArgument;
  context: CompletionContext?
CompleteRequest << completion/complete CompleteRequestParams
Completion: values: list[str]; total: int?; hasMore: bool?
CompleteResult(Result): completion: Completion
ListRootsRequest << roots/list RequestParams?
Root: uri: FileUrl; name: str?; meta
ListRootsResult(Result): roots: list[Root]
RootsListChangedNotification << notifications/roots/list_changed NotificationParams?
CancelledNotificationParams(NotificationParams): requestId: RequestId?; reason: str?
CancelledNotification << notifications/cancelled CancelledNotificationParams
ElicitCompleteNotificationParams(NotificationParams): elicitationId: str
ElicitCompleteNotification << notifications/elicitation/complete ElicitCompleteNotificationParams
ClientRequestType = PingRequest | InitializeRequest | CompleteRequest | SetLevelRequest | GetPromptRequest |
  ListPromptsRequest | ListResourcesRequest | ListResourceTemplatesRequest | ReadResourceRequest | SubscribeRequest |
  UnsubscribeRequest | CallToolRequest | ListToolsRequest | GetTaskRequest | GetTaskPayloadRequest | ListTasksRequest
  | CancelTaskRequest
ClientRequest(RootModel[ClientRequestType]):
ClientNotificationType = CancelledNotification | ProgressNotification | InitializedNotification |
  RootsListChangedNotification | TaskStatusNotification
ClientNotification(RootModel[ClientNotificationType]):
ElicitRequestedSchema = Object
ElicitRequestFormParams(RequestParams): mode: Literal['form'] = 'form'; message: str; requestedSchema:
  ElicitRequestedSchema
ElicitRequestURLParams(RequestParams): mode: Literal['url'] = 'url'; message: str; url: str; elicitationId: str
ElicitRequestParams = ElicitRequestURLParams | ElicitRequestFormParams
ElicitRequest << elicitation/create ElicitRequestParams
ElicitResult(Result): action: Literal['accept', 'decline', 'cancel']; content: dict[str, str | int | float | bool |
  list[str] | None]?
ElicitationRequiredErrorData: elicitations: list[ElicitRequestURLParams]
ClientResultType = EmptyResult | CreateMessageResult | CreateMessageResultWithTools | ListRootsResult | ElicitResult |
  GetTaskResult | GetTaskPayloadResult | ListTasksResult | CancelTaskResult | CreateTaskResult
ClientResult(RootModel[ClientResultType]):
ServerRequestType = PingRequest | CreateMessageRequest | ListRootsRequest | ElicitRequest | GetTaskRequest |
  GetTaskPayloadRequest | ListTasksRequest | CancelTaskRequest
ServerRequest(RootModel[ServerRequestType]):
ServerNotificationType = CancelledNotification | ProgressNotification | LoggingMessageNotification |
  ResourceUpdatedNotification | ResourceListChangedNotification | ToolListChangedNotification |
  PromptListChangedNotification | ElicitCompleteNotification | TaskStatusNotification
ServerNotification(RootModel[ServerNotificationType]):
ServerResultType = EmptyResult | InitializeResult | CompleteResult | GetPromptResult | ListPromptsResult |
  ListResourcesResult | ListResourceTemplatesResult | ReadResourceResult | CallToolResult | ListToolsResult |
  GetTaskResult | GetTaskPayloadResult | ListTasksResult | CancelTaskResult | CreateTaskResult
ServerResult(RootModel[ServerResultType]):
"""


CLOSED = frozenset({"BaseMetadata", "NotificationParams", "PaginatedRequestParams", "RequestParams"})
"""The models that do not keep other fields."""


def config(name: str) -> Object:
    """Return the configuration of a model."""
    return {} if name in CLOSED else {"extra": "allow"}


DEFINITIONS = Definitions(
    "mcp.types",
    TABLE,
    base="BaseModel",
    descriptions={**BOTH, **SDK1},
    config=config,
    extra={"AnyFunction": lambda _: __import__("collections.abc").abc.Callable[..., Any]},
)
