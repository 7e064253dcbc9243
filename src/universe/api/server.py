"""`universe serve`: read options and settings, open the database, and start the server."""

import asyncio
from typing import TYPE_CHECKING, Any

from universe.config import UniverseConfig, load_config
from universe.store.factory import make_store
from uraniborg.kernel.http.serve_command import apply_options, require_server_extra, serve
from uraniborg.kernel.logging import configure_logging

if TYPE_CHECKING:
    from starlette.types import ASGIApp


def serve_universes(options: dict[str, Any], *, as_json: bool) -> None:
    """Serve universes until interrupted; `options` override the settings. Raise the error that prevents the start."""
    config = load_config_with_options(options)
    configure_logging()
    with require_server_extra("Serving universes"):
        from universe.api.app import make_app

    def make_checked_app() -> "ASGIApp":
        asyncio.run(_check_store_opens(config))
        return make_app(config)

    serve(
        config,
        make_checked_app,
        describe=lambda address: f"Universes at {address} (agents: {address}/mcp). Press Ctrl-C to stop.",
        warning="No token is needed: everyone who can reach this address can change every universe.",
        as_json=as_json,
    )


async def _check_store_opens(config: UniverseConfig) -> None:
    """Raise the error that prevents the use of the database, before the address is printed."""
    store = make_store(config.database_address)
    await store.open()
    await store.close()


def load_config_with_options(options: dict[str, Any]) -> UniverseConfig:
    """Return the settings, overridden by these options. Raise InvalidInput."""
    return apply_options(load_config(), options)
