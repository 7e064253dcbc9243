"""`universe serve`: settings, options and a port, put together."""

import asyncio
import json
import sys
from typing import Any

from pydantic import ValidationError

from universe.config import UniverseConfig, load_config
from universe.store.factory import make_store
from uraniborg.kernel.errors import MissingExtra, invalid
from uraniborg.kernel.hosts import authority_of
from uraniborg.kernel.logging import configure_logging


def serve(options: dict[str, Any], *, as_json: bool) -> None:
    """Serve until interrupted, as the settings say where `options` say nothing. Raises what keeps it from starting."""
    config = configured(options)
    configure_logging()
    try:
        import uvicorn as _  # noqa: F401

        from universe.app import make_app
        from uraniborg.kernel.web import check_bind, run_server, say, take_port
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] in {"fastapi", "starlette", "uvicorn"}:
            raise MissingExtra("mcp", "Serving universes") from missing
        raise
    token = config.token.get_secret_value() if config.token else None
    check_bind(config.host, token, insecure=config.insecure)
    port = take_port(config.host, config.port)
    address = f"http://{authority_of(config.host)}:{port}"
    asyncio.run(_try(config))
    app = make_app(config)
    if as_json:
        sys.stdout.write(json.dumps({"url": address, "mcp": f"{address}/mcp"}) + "\n")
        sys.stdout.flush()
    else:
        say(f"Universes at {address} (agents: {address}/mcp). Ctrl-C ends it.")
    if config.insecure and not token:
        say("No token is needed: everyone who can reach this address can change every universe.")
    run_server(app, host=config.host, port=port)


async def _try(config: UniverseConfig) -> None:
    """Raises what keeps the database from being used, before anybody is told that it is served."""
    store = make_store(config.address)
    await store.open()
    await store.close()


def configured(options: dict[str, Any]) -> UniverseConfig:
    """The settings with these options before them. Raises InvalidInput."""
    given = load_config().model_dump()
    try:
        return UniverseConfig.model_validate({**given, **options})
    except ValidationError as exc:
        raise invalid(exc, what="options") from None
