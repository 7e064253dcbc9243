"""Dialogs: questions of the inbox that the client of a call shows to the person as a form (elicitation).

A dialog stays open after the call that opened it has replied, until the person answers, the question is decided through
another interface, or the client leaves.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from weakref import WeakKeyDictionary

import anyio
from mcp.server.lowlevel.server import request_ctx
from mcp.server.session import ServerSession
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.types import ElicitResult, JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse
from pydantic import ValidationError

from uraniborg.kernel.errors import InvalidInput, UraniborgError
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.logging import get_logger, make_printable
from uraniborg.kernel.mcp.call_context import is_cancelled
from uraniborg.kernel.mcp.session import ClientConnection, get_current_connection
from uraniborg.kernel.store.inbox import DecisionNotFound, InboxPort

DOOR: Final = "client"
"""The interface of a decision that a person made in a dialog of their client."""

Answer = Mapping[str, str | bool]
"""The fields of a form that the person filled in."""

_DEFAULTS_SINCE: Final = "2025-11-25"
"""The version of the protocol in which text fields can have defaults."""
_MOST_CHARS: Final = 20_000
_FAST_POLL_S: Final = 0.05
_SLOW_POLL_S: Final = 1.0
_FAST_POLLS_FOR_S: Final = 60.0
"""Calls reply within this time; a dialog that nobody waits for can notice another decision later."""

_log = get_logger(__name__)


class DialogState(StrEnum):
    OPEN = "open"
    ANSWERED = "answered"
    """The person has answered, and the decision is being carried out."""
    DECIDED = "decided"
    """The question is decided, through this dialog or another interface."""
    DECLINED = "declined"
    CANCELLED = "cancelled"
    INVALID = "invalid"
    """The answer does not fit the question."""
    FAILED = "failed"
    """The client cannot show the question, or has left."""


_MESSAGES: Final = {
    DialogState.OPEN: "This client asks the person, who has not answered yet. The question still waits.",
    DialogState.DECLINED: "The person declined to answer now. The question still waits.",
    DialogState.CANCELLED: "The person closed the dialog and declined to answer now. The question still waits.",
    DialogState.INVALID: "The answer of the person cannot be used. The question still waits.",
    DialogState.FAILED: "The client did not show the question to the person. The question still waits.",
}


@dataclass(frozen=True)
class Form:
    """A question and its fields: strings, enumerations and booleans as JSON Schema. The first field is required."""

    entry_id: str
    """The id of the question in the inbox."""
    message: str
    fields: Mapping[str, Mapping[str, Any]]

    def build_params(self, version: str) -> JsonObject:
        """Return the parameters of the request to a client of this version of the protocol."""
        omitted = () if version >= _DEFAULTS_SINCE else ("default",)
        properties: JsonObject = {
            name: {key: value for key, value in field.items() if key not in omitted}
            for name, field in self.fields.items()
        }
        schema: JsonObject = {"type": "object", "properties": properties, "required": [next(iter(self.fields))]}
        return {"mode": "form", "message": make_printable(self.message), "requestedSchema": schema}

    def check_answer(self, content: Mapping[str, Any] | None) -> dict[str, str | bool]:
        """Return the filled-in fields without unknown ones. Raise InvalidInput, which repeats no value."""
        answer: dict[str, str | bool] = {}
        for name, field in self.fields.items():
            value = (content or {}).get(name)
            if value is None:
                continue
            is_valid = isinstance(value, bool if field["type"] == "boolean" else str)
            if not is_valid or value not in field.get("enum", (value,)) or len(str(value)) > _MOST_CHARS:
                raise InvalidInput(f"The field {name} is not valid.", hint=f"Use the form: {', '.join(self.fields)}.")
            answer[name] = value
        if (required := next(iter(self.fields))) not in answer:
            raise InvalidInput(f"The field {required} is missing.", hint=f"Choose a {required}.")
        return answer


Decide = Callable[[Answer], Awaitable[object]]
"""Carry out the decision of an answer. Raise an UraniborgError if it does not fit the question."""


class Dialog:
    """A question that a client shows to the person; `open_dialog` creates it."""

    def __init__(self, call: "_Call", form: Form, inbox: InboxPort, decide: Decide) -> None:
        self.state = DialogState.OPEN
        self._call = call
        self._form = form
        self._inbox = inbox
        self._decide = decide
        self._reason = ""
        self._closed = asyncio.Event()
        self._withdrawn = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    @property
    def is_open(self) -> bool:
        """Whether the person can still answer, or the answer is being carried out."""
        return self.state in (DialogState.OPEN, DialogState.ANSWERED)

    @property
    def is_decided(self) -> bool:
        """Whether the question is decided, or the answer of the person is being carried out."""
        return self.state in (DialogState.ANSWERED, DialogState.DECIDED)

    async def wait(self, timeout_s: float) -> None:
        """Wait until the dialog is closed, or until the timeout. If the client cancels the call, close the dialog."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._closed.wait()
        except TimeoutError:
            return
        except asyncio.CancelledError:
            if is_cancelled():
                self._withdrawn.set()
            raise

    def describe(self, remedy: str) -> dict[str, str]:
        """Return the state of a dialog without a decision for the reply of a call, with the remedy for the agent."""
        return {
            "state": self.state.value,
            "message": " ".join(filter(None, (_MESSAGES[self.state], self._reason, remedy))),
        }

    def end(self) -> None:
        """End the dialog because the client has left."""
        self._task.cancel()

    async def _run(self) -> None:
        try:
            self.state = await self._ask_and_decide()
        except Exception as exc:
            _log.exception("a dialog failed", exc=exc, decision_id=self._form.entry_id)
            self.state = DialogState.FAILED
        finally:
            self._closed.set()

    async def _ask_and_decide(self) -> DialogState:
        request_id, response = self._call.connection.requests.open()
        params = self._form.build_params(self._call.version)
        others = [asyncio.ensure_future(wait()) for wait in (self._wait_until_decided, self._withdrawn.wait)]
        try:
            await self._call.send(
                JSONRPCRequest(jsonrpc="2.0", id=request_id, method="elicitation/create", params=params)
            )
            await asyncio.wait([response, *others], return_when=asyncio.FIRST_COMPLETED)
            if response.done():
                return await self._take_response(response.result())
            self.state = DialogState.FAILED if self._withdrawn.is_set() else DialogState.DECIDED
            self._closed.set()  # the call continues even if the client does not read the next message
            reason = {"requestId": request_id, "reason": "The question was decided or withdrawn."}
            await self._call.send(JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params=reason))
            return self.state
        finally:
            for task in (response, *others):
                task.cancel()

    async def _wait_until_decided(self) -> None:
        entry_id, polling = self._form.entry_id, (_FAST_POLLS_FOR_S, _FAST_POLL_S)
        entry = None
        while entry is None:
            try:
                entry = await self._inbox.wait_decided(entry_id, *polling)
            except DecisionNotFound:  # the session or run was deleted
                return
            except UraniborgError as error:
                _log.warning("the inbox cannot be read", decision_id=entry_id, reason=error.message)
                await asyncio.sleep(_SLOW_POLL_S)
            polling = (None, _SLOW_POLL_S)

    async def _take_response(self, response: JSONRPCResponse | JSONRPCError | None) -> DialogState:
        if not isinstance(response, JSONRPCResponse):
            if response is not None:
                _log.warning("the client did not show a question", **self._ids, rpc_code=response.error.code)
            return DialogState.FAILED
        try:
            result = ElicitResult.model_validate(response.result)
        except ValidationError:
            _log.warning("an answer in a dialog is malformed", **self._ids)
            return DialogState.INVALID
        if result.action != "accept":
            return DialogState.DECLINED if result.action == "decline" else DialogState.CANCELLED
        return await self._take_answer(result.content)

    async def _take_answer(self, content: Mapping[str, Any] | None) -> DialogState:
        try:
            answer = self._form.check_answer(content)
            self.state = DialogState.ANSWERED
            await self._decide(answer)
        except UraniborgError as error:
            if not await self._is_decided_in_inbox():
                _log.warning("an answer in a dialog cannot be used", **self._ids, reason=error.message)
                self._reason = f"{error.message} {error.hint or ''}".rstrip()
                return DialogState.INVALID
        return DialogState.DECIDED

    async def _is_decided_in_inbox(self) -> bool:
        try:
            return (await asyncio.to_thread(self._inbox.get, self._form.entry_id)).state != "pending"
        except DecisionNotFound:
            return True
        except UraniborgError:
            return False

    @property
    def _ids(self) -> dict[str, str]:
        return {"decision_id": self._form.entry_id}


@dataclass(frozen=True)
class _Call:
    """The call that opens a dialog: its session, connection and request id, and the version of the protocol."""

    session: ServerSession
    connection: ClientConnection
    request_id: str | int
    version: str

    @property
    def can_send(self) -> bool:
        """Whether a message reaches the client: with the reply to the call, or in the stream of the session."""
        return self._streams_reply or (self.connection.is_listening and self.connection.has_room)

    @property
    def _streams_reply(self) -> bool:
        return self.connection.streams_reply(self.request_id)

    async def send(self, message: JSONRPCRequest | JSONRPCNotification) -> None:
        """Send the message if it can reach the client; do nothing if the client has left."""
        if not self.can_send:
            return
        metadata = ServerMessageMetadata(related_request_id=self.request_id if self._streams_reply else None)
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            await self.session.send_message(SessionMessage(JSONRPCMessage(message), metadata))


_REPEATABLE: Final = (DialogState.DECIDED, DialogState.INVALID, DialogState.FAILED)
"""The states of a dialog after which a question that waits can be asked again."""


def can_ask_person() -> bool:
    """Return True if the client of this call can show a form to the person."""
    return _find_call() is not None


_dialogs: WeakKeyDictionary[ClientConnection, dict[str, Dialog]] = WeakKeyDictionary()
"""The questions that each client shows to its person, by their ids in the inbox."""


def _get_or_create_dialogs(connection: ClientConnection) -> dict[str, Dialog]:
    """Return the dialogs of a client, which end when the client has left."""
    if connection not in _dialogs:
        dialogs = _dialogs[connection] = {}

        def end_dialogs() -> None:
            for dialog in dialogs.values():
                dialog.end()

        connection.call_when_over(end_dialogs)
    return _dialogs[connection]


def find_dialog(entry_id: str) -> Dialog | None:
    """Return the dialog about this question that is open in the client of this call, or that the person declined."""
    connection = get_current_connection()
    dialog = _dialogs.get(connection, {}).get(entry_id) if connection is not None else None
    return None if dialog is None or dialog.state in _REPEATABLE else dialog


def open_dialog(form: Form, inbox: InboxPort, decide: Decide) -> Dialog | None:
    """Show the form in the client of this call; return None if the client cannot show it.

    `decide` gets the answer of the person, also after this call has replied. Decisions through other interfaces close
    the dialog.
    """
    call = _find_call()
    if call is None:
        return None
    dialogs = _get_or_create_dialogs(call.connection)
    for closed in [key for key, dialog in dialogs.items() if dialog.state in _REPEATABLE]:
        del dialogs[closed]
    dialog = dialogs[form.entry_id] = Dialog(call, form, inbox, decide)
    return dialog


def _find_call() -> _Call | None:
    """Return this call if its client can show forms and can be reached now."""
    request, connection = request_ctx.get(None), get_current_connection()
    params = request.session.client_params if request is not None else None
    if request is None or connection is None or params is None:
        return None
    modes = params.capabilities.elicitation
    # A client that names no mode supports forms.
    if modes is None or (modes.form is None and modes.url is not None):
        return None
    call = _Call(request.session, connection, request.request_id, str(params.protocolVersion))
    return call if call.can_send else None
