"""MCP without sessions: the dispatcher of messages, and its ASGI endpoint."""

import asyncio
from collections.abc import Collection, Mapping
from typing import Any, Final, cast

from mcp import McpError
from mcp.types import METHOD_NOT_FOUND, CallToolRequest, ErrorData, InitializeRequest
from pydantic import BaseModel
from starlette.types import Receive, Scope, Send

from uraniborg.kernel.http_access import BodyTooLarge, MethodNotAllowed
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.mcp.arguments import NotFinite
from uraniborg.kernel.mcp.envelope import (
    DISCOVER,
    ENVELOPE_VERSION,
    REMOVED_METHODS,
    STATUS_OF_CODE,
    adapt_failure,
    add_result_start,
    check_envelope,
    encode_discovery,
    find_version_problem,
    make_result_start,
    remove_envelope,
)
from uraniborg.kernel.mcp.jsonrpc import (
    BATCHING_VERSION,
    NO_ANSWER,
    Answer,
    Request,
    answer_invalid_message,
    answer_unreadable,
    encode_failure,
    encode_response,
    find_batch_problem,
    parse_body,
    parse_request,
)
from uraniborg.kernel.mcp.protocol import InvalidMessage, UnknownMethod, read_call, validate_message
from uraniborg.kernel.mcp.replies import (
    choose_error_code,
    encode_json,
    log_unexpected,
    make_error_body,
    make_error_data,
)
from uraniborg.kernel.mcp.request_checks import Headers, Rules, check_content, read_headers
from uraniborg.kernel.mcp.server import Server

_LISTS: Final = ("tools/list", "resources/list", "resources/templates/list")
_PLAIN: Final = frozenset((str, int, bool, type(None)))


class Dispatcher:
    """Answers messages to `server` one by one, with the results and errors of a session of the SDK.

    Progress reports are dropped.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._handlers = server.protocol.request_handlers
        self._listed: dict[str, tuple[int, bytes]] = {}
        self._result_starts: dict[str, bytes] = {}

    async def answer(self, body: bytes, version: str, headers: Headers | None = None) -> Answer:
        """Return the reply to `body` of a request with this version of the protocol and these headers. Never raise."""
        try:
            message = parse_body(body)
        except ValueError:
            return answer_unreadable(body)
        request = parse_request(cast("JsonObject", message)) if isinstance(message, dict) else None
        if problem := find_version_problem(message, version):
            return Answer(400, encode_failure(request.id if isinstance(request, Request) else None, problem))
        if version == ENVELOPE_VERSION:
            return await self._answer_with_envelope(request, headers or {})
        if request is not None:
            return await self._answer(request)
        if isinstance(message, list):
            return await self._answer_batch(cast("list[Any]", message), version)
        return answer_invalid_message()

    async def _answer_batch(self, messages: list[Any], version: str) -> Answer:
        if problem := find_batch_problem(messages, version):
            return answer_invalid_message(error=problem)
        answers = await asyncio.gather(*(self._answer_member(message) for message in messages))
        bodies = [answer.body for answer in answers if answer.body]
        return Answer(200, b"[%b]" % b",".join(bodies)) if bodies else NO_ANSWER

    async def _answer_member(self, message: Any) -> Answer:
        if not isinstance(message, dict):
            return answer_invalid_message()
        member = cast("JsonObject", message)
        if member.get("method") == "initialize" and "id" in member:
            error = InvalidMessage("initialize cannot be part of a batch.", hint="Send it alone.")
            return answer_invalid_message(member["id"], error)
        return await self._answer(parse_request(member))

    async def _answer(self, request: Request | Answer) -> Answer:
        if isinstance(request, Answer):
            return request
        try:
            result = await self._compute_result(request)
        except (Exception, SystemExit) as exc:
            return Answer(200, encode_failure(request.id, _describe_failure(exc, request)))
        return Answer(200, encode_response(request.id, result))

    async def _answer_with_envelope(self, request: Request | Answer | None, headers: Headers) -> Answer:
        """Return the reply to a request of version 2026-07-28, which has an envelope."""
        if not isinstance(request, Request):
            return request or answer_invalid_message()
        try:
            check_envelope(request, headers)
            result = await self._compute_result_with_envelope(remove_envelope(request))
        except (Exception, SystemExit) as exc:
            failure = adapt_failure(_describe_failure(exc, request), request)
            return Answer(STATUS_OF_CODE.get(failure.code, 200), encode_failure(request.id, failure))
        return Answer(200, encode_response(request.id, result))

    async def _compute_result_with_envelope(self, request: Request) -> bytes:
        if request.method == DISCOVER:
            result = encode_discovery(self._server.protocol.make_initialize_result(ENVELOPE_VERSION))
        else:
            result = await self._compute_result(request, removed=REMOVED_METHODS, added=[DISCOVER])
        if request.method not in self._result_starts:
            info = self._server.protocol.make_initialize_result(ENVELOPE_VERSION).serverInfo
            self._result_starts[request.method] = make_result_start(request.method, info)
        return add_result_start(self._result_starts[request.method], result)

    async def _compute_result(
        self, request: Request, *, removed: Collection[str] = (), added: Collection[str] = ()
    ) -> bytes:
        """Return the JSON of the result. Raise InvalidInput, UnknownMethod, or the exception of the handler.

        `removed` are methods that the version of the request does not have; `added` are answered by the caller.
        """
        params = request.params
        if request.method == "tools/call" and CallToolRequest in self._handlers and params and _is_plain_call(params):
            return (await self._server.reply_to(*read_call(params))).result_json()
        methods = self._server.protocol.methods_without_session
        if request.method not in methods or request.method in removed:
            raise UnknownMethod(request.method, [*added, *(method for method in methods if method not in removed)])
        try:
            accepted = validate_message(methods[request.method], request.method, params)
        except NotFinite as error:
            return self._server.refuse_call(*read_call(params), error).result_json()
        if isinstance(accepted, InitializeRequest):
            return _encode_result(self._server.protocol.make_initialize_result(str(accepted.params.protocolVersion)))
        if isinstance(accepted, CallToolRequest):
            reply = await self._server.reply_to(accepted.params.name, accepted.params.arguments or {})
            return reply.result_json()
        if request.method in _LISTS:
            return await self._get_list(request.method, accepted)
        return await self._handle_request(accepted)

    async def _get_list(self, method: str, accepted: BaseModel) -> bytes:
        """Return the JSON of a list, cached until something is registered: lists are slow to encode."""
        if method == "resources/list" and self._server.has_listings:
            return await self._handle_request(accepted)
        registrations = self._server.registrations
        known = self._listed.get(method)
        if known is None or known[0] != registrations:
            known = self._listed[method] = (registrations, await self._handle_request(accepted))
        return known[1]

    async def _handle_request(self, accepted: BaseModel) -> bytes:
        result = await self._handlers[type(accepted)](accepted)
        return _encode_result(result.root)


def _describe_failure(exc: BaseException, request: Request) -> ErrorData:
    if isinstance(exc, UnknownMethod):
        return make_error_data(exc, METHOD_NOT_FOUND)
    if isinstance(exc, McpError):
        return exc.error
    error = log_unexpected(exc, during=f"{request.method[:80]} over HTTP")
    return make_error_data(error, choose_error_code(error))


def _encode_result(result: BaseModel) -> bytes:
    return result.model_dump_json(by_alias=True, exclude_none=True).encode()


def _is_plain_call(params: Mapping[str, Any]) -> bool:
    """Return True if these parameters of tools/call are certainly valid, without validation by the SDK."""
    if type(params.get("name")) is not str or "task" in params:
        return False
    for part in (params.get("_meta"), params.get("arguments")):
        if part is None:
            continue
        # Floats may be infinite, and nested values may contain them.
        if type(part) is not dict or not _PLAIN.issuperset(map(type, cast("JsonObject", part).values())):
            return False
    return True


_JSON: Final[tuple[bytes, bytes]] = (b"content-type", b"application/json")


class StatelessEndpoint:
    """An ASGI app that passes requests that satisfy the rules to `dispatcher`."""

    def __init__(self, dispatcher: Dispatcher, rules: Rules, body_limit: int) -> None:
        self._dispatcher = dispatcher
        self._rules = rules
        self._body_limit = body_limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [_JSON]
        try:
            answer = await self._answer(scope, receive)
        except Exception as exc:
            error = log_unexpected(exc, during="an MCP request over HTTP")
            if isinstance(error, MethodNotAllowed):
                headers.append((b"allow", ", ".join(error.ids["allowed"]).encode()))
            answer = Answer(error.status, encode_json(make_error_body(error)))
        if answer is not None:
            status, body = answer
            headers = [*(headers if body else ()), (b"content-length", b"%d" % len(body))]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Scope, receive: Receive) -> Answer | None:
        """Return the reply, or None if the client has left. Raise the error of a refused request."""
        headers = read_headers(scope)
        self._rules.check(scope["method"], headers)
        check_content(headers, self._body_limit)
        body = await self._read_body(receive)
        if body is None:
            return None
        # The protocol requires this default, which is the version with batches.
        version = headers.get(b"mcp-protocol-version", BATCHING_VERSION.encode()).decode("latin-1")
        return await self._dispatcher.answer(body, version, headers)

    async def _read_body(self, receive: Receive) -> bytes | None:
        """Return the body, or None if the client left before it was complete."""
        parts: list[bytes] = []
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return None
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._body_limit:
                raise BodyTooLarge(self._body_limit)
            more = message.get("more_body", False)
        return b"".join(parts)
