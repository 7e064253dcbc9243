"""`serve` commands: the check of the address and the start of the server."""

import json
import os
import socket
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from uraniborg.kernel.errors import MissingExtra, Refused, Unavailable, make_invalid_input
from uraniborg.kernel.http.config import HttpConfig, format_authority, is_loopback

if TYPE_CHECKING:
    from starlette.types import ASGIApp

Config = TypeVar("Config", bound=BaseModel)


class InsecureBind(Refused):
    code = "insecure_bind"


class PortTaken(Unavailable):
    code = "port_taken"


def apply_options(config: Config, options: Mapping[str, Any]) -> Config:
    """Return the settings with these options in place of their values. Raise InvalidInput for invalid options."""
    try:
        return type(config).model_validate({**config.model_dump(), **options})
    except ValidationError as exc:
        raise make_invalid_input(exc, label="options") from None


@contextmanager
def require_server_extra(purpose: str) -> Generator[None]:
    """Raise MissingExtra if the block, which imports a server, lacks a module of the extra `mcp`."""
    try:
        import uvicorn as _  # noqa: F401

        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] in {"fastapi", "starlette", "uvicorn"}:
            raise MissingExtra("mcp", purpose) from missing
        raise


def serve(
    config: HttpConfig,
    make_app: Callable[[], "ASGIApp"],
    *,
    describe: Callable[[str], str],
    warning: str,
    as_json: bool,
    facts: Mapping[str, Any] | None = None,
    workers: int = 1,
    worker_factory: str = "",
) -> None:
    """Serve the app until interrupted, after the address is checked and printed.

    `describe` returns the line for people, given the address; `facts` are added to the JSON line. `warning` is printed
    if no token is needed. Workers call `worker_factory`, an import path, and the app is made here only to find errors.
    Raise InsecureBind, PortTaken, or an exception of `make_app`.
    """
    from uraniborg.kernel.http.uvicorn_server import run_server

    check_bind(config.host, config.get_plain_token(), insecure=config.insecure)
    port = find_port(config.host, config.port)
    address = f"http://{format_authority(config.host)}:{port}"
    app = make_app()
    if as_json:
        sys.stdout.write(json.dumps({"url": address, "mcp": f"{address}/mcp", **(facts or {})}) + "\n")
        sys.stdout.flush()
    else:
        print_status(describe(address))
    if config.insecure and not config.token:
        print_status(warning)
    elif not as_json:
        print_status(_describe_callers(config))
    if workers == 1:
        run_server(app, host=config.host, port=port)
    else:
        run_server(worker_factory, host=config.host, port=port, workers=workers, factory=True)


def _describe_callers(config: HttpConfig) -> str:
    """Return who can call a server that does not serve everyone."""
    if not config.token:
        return "Every account of this machine can call it. To admit only programs with a token, set one with --token."
    machines = "this machine" if is_loopback(format_authority(config.host)) else "every machine that reaches it"
    return f"Programs on {machines} that send the token can call it."


def check_bind(host: str, token: str | None, *, insecure: bool) -> None:
    """Raise InsecureBind for an address that others can reach, unless there is a token or `insecure` is set."""
    if is_loopback(format_authority(host)) or token or insecure:
        return
    raise InsecureBind(
        f"Other machines can reach {host}, and no token is set.",
        hint="Set a token (--token, or the environment). Use --insecure if everyone may call the server.",
        host=host,
    )


def find_port(host: str, port: int) -> int:
    """Return the port, or a free one for 0. Raise PortTaken, which an ASGI server would only log."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
            return probe.getsockname()[1]
    except OSError as exc:
        raise PortTaken(
            f"The server cannot listen on {host} port {port}: {exc.strerror or exc}.",
            hint="Choose another port with --port, or 0 for any free port.",
            port=port,
        ) from None


def print_status(line: str) -> None:
    """Print a line on stderr at once; stdout is for results."""
    sys.stderr.write(line + os.linesep)
    sys.stderr.flush()
