"""Log lines on stderr, with every secret masked by its name and by its value.

Until `configure_logging` is called, records go wherever the host program sends standard-library logging, masked all
the same.
"""

import contextlib
import json
import logging
import os
import re
import sys
import threading
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TextIO, cast
from urllib.parse import quote

from uraniborg.kernel.errors import InvalidInput

MASK: Final = "***"
LEVELS: Final = ("debug", "info", "warning", "error", "critical")

_SHORTEST_SECRET = 6
_DEEPEST = 256
_CONTAINERS = (Mapping, list, tuple, set, frozenset)

_WORD = r"(?:api[_-]?key|token|authorization|passw(?:or)?d|pwd|secret|cookie|credentials?|private[_-]?key)"
_SENSITIVE_KEY = re.compile(
    r"apikey|authorization|passw(or)?d|pwd$|secret|cookie|credential|privatekey|token$|^auth$|^bearer$"
)
_GIVEN_AWAY = re.compile(
    rf"""
      (?P<quoted>{_WORD}["']:\s*["'])[^"']+                     # "api_key": "…" in JSON or in a repr
    | (?P<assigned>{_WORD}=["']?)[^\s&"'#;,)<>\]}}]+           # api_key=… in a URL, a form or a repr
    | (?P<query>[?&](?:key|sig|signature|auth)=)[^\s&"'#]+     # names that are telling only inside a URL
    | (?P<header>\b(?:authorization|cookie|api-key):[ ]*)[^\r\n"']+
    | (?P<scheme>\bbearer[ ]+)(?=\S*\d)[\w.~+/=-]{{{_SHORTEST_SECRET},}}   # the digit tells it from prose
    | (?P<user>://)[^/\s@:]*:[^/\s@]+(?=@)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SIGNS = ("=", '":', "':", "authorization:", "cookie:", "api-key:", "bearer ", "://")
"""One of these is in all text that the pattern above can match, and none in most other text."""
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Redactor:
    """Masks secrets in any value: by the name they go under, and by value once registered. Safe to share by threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._secrets: set[str] = set()
        self._known: re.Pattern[str] | None = None

    def register(self, secret: str) -> None:
        """From now on mask this value wherever it appears. One too short to be told from other text is ignored."""
        secret = secret.strip()
        if len(secret) < _SHORTEST_SECRET:
            return
        with self._lock:
            self._secrets.add(secret)
            longest_first = sorted(self._secrets, key=len, reverse=True)
            self._known = re.compile("|".join("".join(map(_spellings, known)) for known in longest_first))

    def __call__(self, value: Any) -> Any:
        """The same value with secrets masked. An object that would show one in its repr becomes that repr, masked."""
        return self._masked(value, within=[])

    def _masked(self, value: Any, within: list[int]) -> Any:  # noqa: PLR0911 - one line for each kind of value
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value)
        if type(value) in (int, float) and self._known is None:
            return value
        if isinstance(value, bytes):
            return self._text(value.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        if _is_secret(value):
            return MASK
        is_container, place = isinstance(value, _CONTAINERS), id(value)
        if is_container and len(within) < _DEEPEST and place not in within:
            within.append(place)
            masked = self._container(value, within)
            within.pop()
            return masked
        if isinstance(value, BaseException):
            return self._text(f"{type(value).__name__}: {value}")
        try:
            shown = repr(value)
        except Exception:
            return f"<{type(value).__name__}>"
        masked = self._text(shown)
        return value if masked == shown and not is_container else masked

    def _container(self, value: Any, within: list[int]) -> Any:
        if isinstance(value, Mapping):
            named: dict[Any, Any] = {}
            for key, inner in cast("Mapping[Any, Any]", value).items():
                is_harmless = inner is None or isinstance(inner, bool) or (isinstance(inner, str) and not inner)
                is_secret = not is_harmless and isinstance(key, str) and _is_telling(key)
                named[self._key(key)] = MASK if is_secret else self._masked(inner, within)
            return named
        masked: list[Any] = []
        for inner in cast("Iterable[Any]", value):
            masked.append(self._masked(inner, within))  # noqa: PERF401 - a comprehension is a frame more at each level
        return masked if isinstance(value, list) else tuple(masked) if isinstance(value, tuple) else set(masked)

    def _key(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._text(key)
        masked = self._masked(key, [0] * _DEEPEST)
        return masked if isinstance(masked, str | int | float | None) else self._text(repr(masked))

    def _text(self, text: str) -> str:
        if not text.isalnum() and _is_suspect(text):
            text = _GIVEN_AWAY.sub(lambda found: found[found.lastgroup or 0] + MASK, text)
        # Masking one occurrence can join its neighbours into another.
        while self._known and self._known.search(text):
            text = self._known.sub(MASK, text)
        return text


def _is_suspect(text: str) -> bool:
    lowered = text.lower()
    return any(sign in lowered for sign in _SIGNS)


@lru_cache(maxsize=4096)
def _is_telling(key: str) -> bool:
    """Whether what goes under this name is a secret."""
    return _SENSITIVE_KEY.search(re.sub(r"[\W_]", "", key).lower()) is not None


def _is_secret(value: Any) -> bool:
    """Whether it is a secret by its type. Whoever has one has loaded pydantic, which is slow to import."""
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(value, (pydantic.SecretStr, pydantic.SecretBytes))


def _spellings(char: str) -> str:
    """A pattern for one character as it stands, in a URL, in JSON and in a repr."""
    if char.isascii() and (char.isalnum() or char in "_.-~"):
        return re.escape(char)
    encoded = quote(char, safe="", errors="surrogatepass")
    spelt = {char, json.dumps(char)[1:-1], repr(char)[1:-1], encoded, encoded.lower()}
    if char == " ":
        spelt.add("+")
    return f"(?:{'|'.join(re.escape(form) for form in sorted(spelt, key=len, reverse=True))})"


redact: Final = Redactor()
"""The redactor of this process: `redact(value)` masks what every log line masks."""


def register_secret(value: str) -> None:
    """Mask this value in every later log record and in everything `redact` is given."""
    redact.register(value)


def printable(text: str, *, keep: str = "\n\t") -> str:
    """The text with control characters, bidirectional overrides and lone surrogates shown, not obeyed."""
    return _CONTROL.sub(lambda found: found[0] if found[0] in keep else ascii(found[0])[1:-1], text)


@dataclass(frozen=True)
class _Line:
    event: str
    fields: Mapping[str, Any]

    def __str__(self) -> str:
        fields = dict(self.fields)
        exception = fields.pop("exception", "")
        line = " ".join([printable(self.event, keep=""), *(f"{name}={value!r}" for name, value in fields.items())])
        return f"{line}\n{exception}" if exception else line


class Logger:
    """Writes events with named fields: `log.info("source answered", source="crossref", papers=25)`."""

    def __init__(self, name: str, fields: Mapping[str, Any] | None = None) -> None:
        self._logger = logging.getLogger(name)
        self._fields = fields or {}

    def bind(self, **fields: Any) -> "Logger":
        """A logger that adds these fields to each of its lines."""
        return Logger(self._logger.name, {**self._fields, **fields})

    def debug(self, event: str, /, **fields: Any) -> None:
        self._write(logging.DEBUG, event, fields)

    def info(self, event: str, /, **fields: Any) -> None:
        self._write(logging.INFO, event, fields)

    def warning(self, event: str, /, **fields: Any) -> None:
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, /, **fields: Any) -> None:
        self._write(logging.ERROR, event, fields)

    def exception(self, event: str, /, exc: BaseException | None = None, **fields: Any) -> None:
        """An error with the traceback of `exc`, or of the exception being handled."""
        exc = exc or sys.exception()
        if exc is not None:
            fields["exception"] = "".join(traceback.format_exception(exc)).rstrip()
        self._write(logging.ERROR, event, fields)

    def _write(self, level: int, event: str, fields: dict[str, Any]) -> None:
        if self._logger.isEnabledFor(level):
            line = _Line(redact(event), redact({**self._fields, **fields}))
            self._logger.log(level, line, stacklevel=3)


def get_logger(name: str) -> Logger:
    """A logger of this name. Costs next to nothing and configures nothing."""
    return Logger(name)


def configure_logging(level: str = "info", stream: TextIO | None = None, force_json: bool | None = None) -> None:
    """Take over all logging of this process, other libraries' included: for programs, never for a library.

    Lines go to `stream` (stderr unless given): for people when it is a terminal, as JSON otherwise; `force_json`
    overrules. Raises InvalidInput for an unknown level.
    """
    if level.lower() not in LEVELS:
        raise InvalidInput(f"Unknown log level {level!r}.", hint=f"Use one of: {', '.join(LEVELS)}.")
    target = stream or sys.stderr
    handler = _Handler(target)
    handler.setFormatter(_formatter(as_json=not target.isatty() if force_json is None else force_json, target=target))
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level.upper())


class _Handler(logging.StreamHandler[TextIO]):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name is the standard library's
        """Say that a line was lost, and not what it held, as the inherited method would."""
        with contextlib.suppress(OSError, ValueError):
            self.stream.write(f"a log line of {record.name} could not be written\n")


def _formatter(*, as_json: bool, target: TextIO) -> logging.Formatter:
    import structlog  # slow to import, and only programs that log need it

    def opened(_logger: Any, _method: str, event: Any) -> Any:
        line = event["_record"].msg
        return {**event, **line.fields, "event": line.event} if isinstance(line, _Line) else event

    def masked(_logger: Any, _method: str, event: Any) -> Any:
        return redact(event)

    def shown(_logger: Any, _method: str, event: Any) -> Any:
        return {
            name: printable(value, keep="\n\t" if name == "exception" else "") if isinstance(value, str) else value
            for name, value in event.items()
        }

    colors = target.isatty() and not os.environ.get("NO_COLOR")
    renderer: list[Any] = (
        [structlog.processors.JSONRenderer()]
        if as_json
        else [shown, structlog.dev.ConsoleRenderer(colors=colors, pad_event_to=0)]
    )
    return structlog.stdlib.ProcessorFormatter(
        processors=[
            opened,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            masked,
            *renderer,
        ]
    )
