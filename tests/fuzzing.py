"""Messages to MCP servers that are nearly right, wrong in one place, or not messages at all."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, cast

ODD_NUMBERS: Final = ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1" + "0" * 400, "0.5", "-0", "true", "1.0"]
ODD_TEXTS: Final = ["", " ", "\x00", "\u202e", "../../x", "null", "NaN", "[]", "{}", "x" * 5_000, "Ж量🂡\u2028", "-1"]
ODD_JSON: Final = ['"\\ud800"', '"\\udc00x"', "null", "{}", "[]", "[[[[]]]]", "[" * 300 + "]" * 300]
GARBAGE: Final = [
    b"",
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b"{",
    b"[",
    b"]",
    b"\x00",
    b"\r",
    b"nonsense",
    b"{}{}",
    b"[" * 5_000,
    b'{"a":' * 5_000,
    b'"' + b"x" * 100_000,
    b"1" * 5_000,
    b"Content-Length: 12",
]
_PLACE: Final = "@@odd@@"


def is_request(body: bytes) -> bool:
    """Return whether a body is a request with a valid id, which must be answered once, whatever else is wrong."""
    value = parse_body(body)
    if not isinstance(value, dict):
        return False
    message = cast("dict[str, Any]", value)
    method, params, request_id = message.get("method"), message.get("params"), message.get("id")
    return (
        message.get("jsonrpc") == "2.0"
        and isinstance(method, str)
        and (params is None or isinstance(params, dict))
        and (type(request_id) is int or (isinstance(request_id, str) and request_id.isprintable()))
    )


def parse_body(body: bytes) -> Any:
    """Return the JSON value in a body, or None."""
    try:
        return json.loads(body.strip().decode())
    except (ValueError, RecursionError):
        return None


def list_ids(body: bytes) -> list[str | int]:
    """Return the ids that an answer to this body can carry."""
    message = parse_body(body)
    members = cast("list[Any]", message if isinstance(message, list) else [message])
    ids = [cast("dict[str, Any]", member).get("id") for member in members if isinstance(member, dict)]
    return [one for one in ids if isinstance(one, str) or type(one) is int]


@dataclass
class Fuzz:
    """Messages to a server with these tools (names and schemas) and resources, the same for the same seed.

    `sound` are requests that the server can answer well, from which others are made by mutation.
    """

    seed: int
    sound: list[dict[str, Any]]
    _random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def message(self, request_id: str | int) -> bytes:
        """Return the next message: one line of bytes, under this id where it has one."""
        make: Callable[[str | int], bytes] = self._random.choices(
            [
                self._make_valid_request,
                self._make_changed_request,
                self._make_odd_request,
                self._make_damaged_bytes,
                self._make_garbage,
                self._make_notification,
                self._make_batch,
            ],
            [20, 25, 20, 15, 8, 6, 6],
        )[0]
        return make(request_id).replace(b"\n", b" ")

    def _make_request(self, request_id: str | int) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": request_id, **json.loads(json.dumps(self._random.choice(self.sound)))}

    def _make_valid_request(self, request_id: str | int) -> bytes:
        return json.dumps(self._make_request(request_id), ensure_ascii=self._random.random() < 0.5).encode()

    def _make_changed_request(self, request_id: str | int) -> bytes:
        """Return a valid request with one value changed, removed or added, at any depth."""
        message = self._make_request(request_id)
        holders = [message, *self._list_holders(message)]
        holder: dict[str, Any] = self._random.choice(holders)
        name = self._random.choice([*holder, "unheard_of", "_meta", "id"])
        if self._random.random() < 0.25:
            holder.pop(name, None)
        else:
            holder[name] = self._make_value()
        return json.dumps(message).encode()

    def _make_odd_request(self, request_id: str | int) -> bytes:
        """Return a valid request in which one value can only be written as bytes."""
        message = self._make_request(request_id)
        holder: dict[str, Any] = self._random.choice([message, *self._list_holders(message)])
        holder[self._random.choice(list(holder))] = _PLACE
        odd = self._random.choice(ODD_NUMBERS + ODD_JSON)
        return json.dumps(message).replace(f'"{_PLACE}"', odd).encode()

    def _make_damaged_bytes(self, request_id: str | int) -> bytes:
        """Return a valid request with some bytes removed, changed, repeated or added."""
        body = bytearray(self._make_valid_request(request_id))
        for _ in range(self._random.randint(1, 3)):
            at = self._random.randrange(len(body))
            match self._random.randrange(4):
                case 0:
                    del body[at : at + self._random.randint(1, 20)]
                case 1:
                    body[at] = self._random.randrange(256)
                case 2:
                    body[at:at] = body[at : at + self._random.randint(1, 20)]
                case _:
                    body[at:at] = self._random.randbytes(self._random.randint(1, 5))
            if not body:
                break
        return bytes(body)

    def _make_garbage(self, _: str | int) -> bytes:
        return self._random.choice([*GARBAGE, self._random.randbytes(self._random.randint(1, 200))])

    def _make_notification(self, request_id: str | int) -> bytes:
        params = {"requestId": self._random.choice([request_id, 1, "x", None, [1]]), "reason": self._make_value()}
        message: dict[str, Any] = self._random.choice(
            [
                {"method": "notifications/initialized"},
                {"method": "notifications/cancelled", "params": params},
                {"method": "notifications/progress", "params": {"progressToken": 1, "progress": self._make_value()}},
                {"method": "notifications/unheard_of", "params": {"x": self._make_value()}},
                {"id": 1, "result": self._make_value()},
                {"id": 1, "error": {"code": 1, "message": self._make_value()}},
            ]
        )
        return json.dumps({"jsonrpc": "2.0", **message}).encode()

    def _make_batch(self, request_id: str | int) -> bytes:
        members: list[Any] = [
            self._make_request(f"{request_id}.{number}") for number in range(self._random.randint(0, 4))
        ]
        if self._random.random() < 0.3:
            members.append(self._make_value())
        return json.dumps(members).encode()

    def _list_holders(self, value: Any) -> list[dict[str, Any]]:
        """Return the objects within a value that are not empty."""
        inner: list[Any] = []
        if isinstance(value, dict):
            inner = list(cast("dict[str, Any]", value).values())
        elif isinstance(value, list):
            inner = cast("list[Any]", value)
        own = [cast("dict[str, Any]", one) for one in inner if isinstance(one, dict) and one]
        return [*own, *(holder for one in inner for holder in self._list_holders(one))]

    def _make_value(self) -> Any:
        values: list[Any] = [
            *(None, True, False, 0, -1, 2**31, 2**63, 10**40, 0.1, 1e300, -1e-300),
            *(self._random.choice(ODD_TEXTS), [], {}, [[]], {"": 0}, ["x"] * 50, {"type": "x"}),
        ]
        return self._random.choice(values)
