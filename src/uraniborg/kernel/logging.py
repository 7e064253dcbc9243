"""Structured log lines on stderr, with the id of their request and with all secrets masked.

Before `configure_logging` is called, masked records go to the handlers that the host program has configured.
"""

import contextlib
import logging
import re
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TextIO

from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.ids import get_request_id
from uraniborg.kernel.redaction import MASK, Redactor, redact, register_secret
from uraniborg.kernel.terminal.output_streams import can_use_color

__all__ = [
    "LEVELS",
    "MASK",
    "Logger",
    "Redactor",
    "configure_logging",
    "get_logger",
    "make_printable",
    "redact",
    "register_secret",
]

LEVELS: Final = ("debug", "info", "warning", "error", "critical")

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def make_printable(text: str, *, keep: str = "\n\t") -> str:
    """Return the text with control characters, bidirectional overrides and lone surrogates escaped."""
    return _CONTROL.sub(lambda found: found[0] if found[0] in keep else ascii(found[0])[1:-1], text)


@dataclass(frozen=True)
class _Line:
    event: str
    fields: Mapping[str, Any]

    def __str__(self) -> str:
        fields = dict(self.fields)
        exception = fields.pop("exception", "")
        line = " ".join([make_printable(self.event, keep=""), *(f"{name}={value!r}" for name, value in fields.items())])
        return f"{line}\n{exception}" if exception else line


class Logger:
    """A logger of events with named fields: `log.info("source answered", source="crossref", papers=25)`."""

    def __init__(self, name: str, fields: Mapping[str, Any] | None = None) -> None:
        self._logger = logging.getLogger(name)
        self._fields = fields or {}

    def bind(self, **fields: Any) -> "Logger":
        """Return a logger that adds these fields to each of its lines."""
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
        """Log an error with the traceback of `exc`, or of the exception being handled."""
        exc = exc or sys.exception()
        if exc is not None:
            fields["exception"] = "".join(traceback.format_exception(exc)).rstrip()
        self._write(logging.ERROR, event, fields)

    def _write(self, level: int, event: str, fields: dict[str, object]) -> None:
        if self._logger.isEnabledFor(level):
            line = _Line(redact(event), redact(_add_request_id({**self._fields, **fields})))
            self._logger.log(level, line, stacklevel=3)


def _add_request_id(fields: dict[str, object]) -> dict[str, object]:
    """Return `fields` with the id of the request being answered, if there is one."""
    request_id = get_request_id()
    return fields if request_id is None else {**fields, "request_id": request_id}


def get_logger(name: str) -> Logger:
    """Return a logger with this name, without configuring anything."""
    return Logger(name)


def configure_logging(level: str = "info", stream: TextIO | None = None, force_json: bool | None = None) -> None:
    """Replace all log handlers of this process. Call this from a program, never from a library.

    Write lines to `stream`, by default stderr: as text if it is a terminal, else as JSON; `force_json` overrides this.
    Raise InvalidInput for an unknown level.
    """
    if level.lower() not in LEVELS:
        raise InvalidInput(f"Unknown log level {level!r}.", hint=f"Use one of: {', '.join(LEVELS)}.")
    target = stream or sys.stderr
    handler = _Handler(target)
    handler.setFormatter(
        _make_formatter(as_json=not target.isatty() if force_json is None else force_json, target=target)
    )
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level.upper())


class _Handler(logging.StreamHandler[TextIO]):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - a method of the standard library
        """Report that a line was lost, without its content, which the inherited method prints."""
        with contextlib.suppress(OSError, ValueError):
            self.stream.write(f"a log line of {record.name} could not be written\n")


def _make_formatter(*, as_json: bool, target: TextIO) -> logging.Formatter:
    import structlog  # slow to import, and only programs that log need it

    def open_event(_logger: Any, _method: str, event: Any) -> Any:
        line = event["_record"].msg
        return {**event, **line.fields, "event": line.event} if isinstance(line, _Line) else _add_request_id(event)

    def mask_event(_logger: Any, _method: str, event: Any) -> Any:
        return redact(event)

    def escape_event(_logger: Any, _method: str, event: Any) -> Any:
        return {
            name: make_printable(value, keep="\n\t" if name == "exception" else "") if isinstance(value, str) else value
            for name, value in event.items()
        }

    renderer: list[Any] = (
        [structlog.processors.JSONRenderer()]
        if as_json
        else [escape_event, structlog.dev.ConsoleRenderer(colors=can_use_color(target), pad_event_to=0)]
    )
    return structlog.stdlib.ProcessorFormatter(
        processors=[
            open_event,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            mask_event,
            *renderer,
        ]
    )
