"""The protocol engine of a connection: valid messages only, and only capabilities that the server has."""

import json
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Final, NotRequired, cast

from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.lowlevel.server import Server as LowLevelServer
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.shared.message import SessionMessage
from mcp.shared.session import RequestResponder
from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS
from mcp.types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    LATEST_PROTOCOL_VERSION,
    METHOD_NOT_FOUND,
    ClientNotification,
    ClientRequest,
    Implementation,
    InitializeRequest,
    InitializeResult,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    ServerCapabilities,
    ServerResult,
    SubscribeRequest,
    UnsubscribeRequest,
)
from pydantic import BaseModel, ValidationError
from typing_extensions import TypedDict

from uraniborg.kernel.errors import InvalidInput, NotFound, UraniborgError, make_invalid_input
from uraniborg.kernel.ids import REQUEST_ID, begin_request
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.mcp.replies import Reply, make_error_data
from uraniborg.kernel.mcp.session import ClientConnection
from uraniborg.kernel.mcp.tool_calls import NotFinite, find_nonfinite_path

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]

_BEFORE_INITIALIZE: Final = ("initialize", "ping")
_OF_SESSIONS: Final[tuple[type[BaseModel], ...]] = (SubscribeRequest, UnsubscribeRequest)

_log = get_logger(__name__)


class UnknownMethod(NotFound):
    code = "unknown_method"

    def __init__(self, method: str, methods: Iterable[str]) -> None:
        super().__init__(f"There is no method '{method[:80]}'.", hint=f"This server has: {', '.join(methods)}.")


class InvalidMessage(InvalidInput):
    code = "invalid_request"
    status = 400

    def __init__(
        self,
        message: str = "This is not a JSON-RPC 2.0 message.",
        *,
        hint: str = "Send one object with jsonrpc, id, method and, if there are any, params as an object.",
    ) -> None:
        super().__init__(message, hint=hint)


class UnacceptableParameters(InvalidInput):
    def __init__(self, method: str) -> None:
        super().__init__(
            f"The parameters of {method[:80]} are not valid.",
            hint="Send JSON without NaN, infinities, lone surrogates and very deep nesting.",
        )


class _CallParams(TypedDict):
    name: str
    arguments: NotRequired[JsonObject | None]


def read_call(params: JsonObject | None) -> tuple[str, JsonObject]:
    """Return the name and the arguments of valid parameters of tools/call."""
    valid = cast("_CallParams", params)
    return valid["name"], valid.get("arguments") or {}


class Protocol(LowLevelServer[Any, Any]):
    """The low-level server of the SDK, which receives valid messages only and advertises only its own capabilities."""

    refuse_call: Callable[[str, JsonObject, UraniborgError], Reply] | None = None
    """Return the reply of a tool to an error in its arguments."""

    def get_capabilities(
        self, notification_options: NotificationOptions, experimental_capabilities: dict[str, JsonObject]
    ) -> ServerCapabilities:
        capabilities = super().get_capabilities(notification_options, experimental_capabilities)
        capabilities.experimental = experimental_capabilities or None
        if capabilities.resources is not None:
            capabilities.resources.subscribe = SubscribeRequest in self.request_handlers
        return capabilities

    @property
    def methods(self) -> dict[str, type[BaseModel]]:
        """The requests that this server answers, and their models."""
        kinds: list[type[BaseModel]] = [InitializeRequest, *self.request_handlers]
        return {str(kind.model_fields["method"].default): kind for kind in kinds}

    @property
    def methods_without_session(self) -> dict[str, type[BaseModel]]:
        """The requests that a client without a session can send."""
        return {method: kind for method, kind in self.methods.items() if kind not in _OF_SESSIONS}

    def make_initialize_result(self, version: str) -> InitializeResult:
        """Return the reply to an initialize request for this version of the protocol, without a session.

        It is the reply of the SDK without the capabilities that need a session.
        """
        options = self.create_initialization_options()
        if options.capabilities.resources is not None:
            options.capabilities.resources.subscribe = False
        return InitializeResult(
            protocolVersion=version if version in SUPPORTED_PROTOCOL_VERSIONS else LATEST_PROTOCOL_VERSION,
            capabilities=options.capabilities,
            serverInfo=Implementation(
                name=options.server_name,
                version=options.server_version,
                websiteUrl=options.website_url,
                icons=options.icons,
            ),
            instructions=options.instructions,
        )

    async def run(
        self,
        read_stream: Incoming,
        write_stream: Outgoing,
        initialization_options: InitializationOptions,
        raise_exceptions: bool = False,
        stateless: bool = False,
        connection: ClientConnection | None = None,
    ) -> None:
        connection = connection or ClientConnection()
        answers = _ReplyStream(write_stream, connection)
        checked = _CheckedMessages(read_stream, answers, self, connection, initialized=stateless)
        # The session only enters and iterates its read stream, and only enters and sends to its write stream.
        source, sink = cast("Incoming", checked), cast("Outgoing", answers)
        with connection.make_current():
            await super().run(source, sink, initialization_options, raise_exceptions, stateless)

    async def _handle_message(
        self,
        message: RequestResponder[ClientRequest, ServerResult] | ClientNotification | Exception,
        session: ServerSession,
        lifespan_context: Any,
        raise_exceptions: bool = False,
    ) -> None:
        """Handle the message as the SDK does, but do not catch warnings.

        The SDK catches the warnings of the whole process during a call. After two overlapping calls it catches them
        for ever, in a list that only grows.
        """
        # The task has the context of the session, with the id of the request that started the session.
        begin_request(_get_http_request_id(getattr(message, "message_metadata", None)))
        if isinstance(message, RequestResponder):
            with message:
                request = message.request.root
                await self._handle_request(message, request, session, lifespan_context, raise_exceptions)
        elif isinstance(message, ClientNotification):
            await self._handle_notification(message.root)


class _ReplyStream:
    """A write stream that reports answers to the connection, and drops answers that nobody waits for."""

    def __init__(self, sink: Outgoing, connection: ClientConnection) -> None:
        self._sink = sink
        self._connection = connection

    async def __aenter__(self) -> "_ReplyStream":
        await self._sink.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._sink.__aexit__(kind, exc, trace)

    async def send(self, message: SessionMessage) -> None:
        if not isinstance(answer := message.message.root, JSONRPCResponse | JSONRPCError):
            await self._sink.send(message)
            return
        try:
            if self._connection.awaits_answer(answer.id):
                await self._sink.send(message)
        finally:
            self._connection.note_answer(answer.id)

    async def aclose(self) -> None:
        await self._sink.aclose()


class _CheckedMessages:
    """A read stream that answers invalid messages itself; the SDK would log their content."""

    def __init__(
        self,
        source: Incoming,
        answers: _ReplyStream,
        protocol: Protocol,
        connection: ClientConnection,
        *,
        initialized: bool,
    ) -> None:
        self._source = source
        self._answers = answers
        self._methods = protocol.methods
        self._refuse_call = protocol.refuse_call
        self._connection = connection
        self._initialized = initialized

    async def __aenter__(self) -> "_CheckedMessages":
        await self._source.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._source.__aexit__(kind, exc, trace)

    def __aiter__(self) -> "_CheckedMessages":
        return self

    async def __anext__(self) -> SessionMessage:
        while True:
            message = await self._source.__anext__()
            if isinstance(message, Exception):
                begin_request()
                _log.warning("unreadable message", kind=type(message).__name__)
                continue
            begin_request(_get_http_request_id(message.metadata))
            if isinstance(request := message.message.root, JSONRPCRequest):
                self._connection.note_request(request.id)
                refusal = self._find_refusal(request)
                if refusal is None:
                    return message
                await self._answer(request, *refusal)
            elif isinstance(request, JSONRPCResponse | JSONRPCError):
                self._connection.requests.receive(request)
            elif self._is_accepted(request):
                return message

    def _find_refusal(self, request: JSONRPCRequest) -> tuple[UraniborgError, int] | None:
        if request.method not in self._methods:
            return UnknownMethod(request.method, self._methods), METHOD_NOT_FOUND
        if not self._initialized and request.method not in _BEFORE_INITIALIZE:
            error = InvalidMessage("The connection is not initialized yet.", hint="Send initialize first.")
            return error, INVALID_REQUEST
        if problem := _find_problem(request, self._methods[request.method]):
            return problem, INVALID_PARAMS
        self._initialized = self._initialized or request.method == "initialize"
        return None

    def _is_accepted(self, notification: JSONRPCNotification) -> bool:
        if self._initialized and _find_problem(notification, ClientNotification) is None:
            return True
        _log.debug("notification ignored", method=notification.method[:80])
        return False

    async def _answer(self, request: JSONRPCRequest, error: UraniborgError, code: int) -> None:
        if isinstance(error, NotFinite) and self._refuse_call is not None and request.params is not None:
            reply = self._refuse_call(*read_call(request.params), error)
            result = reply.result().model_dump(by_alias=True, mode="json", exclude_none=True)
            answer = JSONRPCResponse(jsonrpc="2.0", id=request.id, result=result)
        else:
            answer = JSONRPCError(jsonrpc="2.0", id=request.id, error=make_error_data(error, code))
        await self._answers.send(SessionMessage(JSONRPCMessage(answer)))


def _get_http_request_id(metadata: Any) -> str | None:
    """Return the id of the HTTP request of a message, or None for a message over another transport."""
    scope = getattr(getattr(metadata, "request_context", None), "scope", None)
    return cast("dict[str, str]", scope).get(REQUEST_ID) if isinstance(scope, dict) else None


def validate_message(kind: type[BaseModel], method: str, params: JsonObject | None) -> BaseModel:
    """Return the message of this kind with these parameters.

    Raise InvalidInput, which never repeats their values, and NotFinite for a call that the tool answers with an error.
    """
    try:
        # The SDK would turn NaN into null silently.
        json.dumps(params, allow_nan=False)
        return kind.model_validate({"method": method} if params is None else {"method": method, "params": params})
    except ValidationError as exc:
        raise make_invalid_input(exc, label=f"{method} request") from None
    except (ValueError, RecursionError):
        raise _find_nonfinite_error(method, params) or UnacceptableParameters(method) from None


def _find_nonfinite_error(method: str, params: JsonObject | None) -> NotFinite | None:
    """Return the error of a call with a number that is not finite among its arguments; the tool answers it."""
    arguments = (params or {}).get("arguments")
    if method != "tools/call" or not isinstance(arguments, dict) or not isinstance((params or {}).get("name"), str):
        return None
    path = find_nonfinite_path(cast("JsonObject", arguments))
    return NotFinite(path) if path else None


def _find_problem(message: JSONRPCRequest | JSONRPCNotification, kind: type[BaseModel]) -> InvalidInput | None:
    """Return the error of a message that is not a valid `kind`, or None."""
    try:
        validate_message(kind, message.method, message.params)
        # The SDK validates it too, and would crash on values that are nested too deep.
        message.model_dump(by_alias=True, mode="json", exclude_none=True)
    except InvalidInput as problem:
        return problem
    except (ValueError, RecursionError):
        return UnacceptableParameters(message.method)
    return None
