"""List what `uraniborg serve` serves: the API, and the HTTP servers of the parts as they serve alone."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from uraniborg.console.config import read_config
from uraniborg.console.services import ConsoleServices
from uraniborg.kernel.http.secure_app import StoppableApp
from uraniborg.servers.credential_check import require_credential
from uraniborg.servers.process import API, PartServer

if TYPE_CHECKING:
    from starlette.types import ASGIApp


def list_parts(services: ConsoleServices, port: int | None) -> list[PartServer]:
    """Return all servers of the process, the API first, on `port` if it is given. Raise InvalidConfig."""
    from paper_library.config import load_config as load_library_config
    from universe.config import load_config as load_universe_config

    console = read_config().settings
    library, universe = load_library_config(), load_universe_config()
    port = console.port if port is None else port
    return [
        PartServer(API, "decide, search and run", port, partial(_make_api_app, services), has_mcp=False),
        PartServer("paper-search", "find papers", console.search_port, None),
        PartServer("paper-library", "read the shelf", library.port, partial(_make_library_app, services)),
        PartServer("universe", "simulate universes", universe.port, partial(_make_universe_app, services)),
    ]


async def _make_api_app(services: ConsoleServices, part: PartServer) -> "ASGIApp":
    from uraniborg.console.app import make_app

    return make_app(services, part.port)


async def _make_library_app(services: ConsoleServices, part: PartServer) -> "ASGIApp":
    from paper_library.api.app import HEALTH, make_app
    from paper_library.config import get_sample_shelf_path, load_config
    from paper_library.service.shelf_catalog import sample_shelf

    def open_shelf_and_make_app() -> "ASGIApp":
        config = load_config()
        shelf = config.shelf.expanduser() if config.shelf else sample_shelf(get_sample_shelf_path())
        part.purpose = f"read the shelf {shelf.name}"
        app = make_app(config.model_copy(update={"port": part.port, "shelf": shelf, "token": None}))
        return require_credential(app, part, services.sign_ins, config, open_paths=(HEALTH,))

    return await asyncio.to_thread(open_shelf_and_make_app)


async def _make_universe_app(services: ConsoleServices, part: PartServer) -> "ASGIApp":
    from universe.api.app import HEALTH, make_app
    from universe.config import load_config
    from universe.store.factory import make_store

    config = load_config().model_copy(update={"port": part.port})
    store = make_store(config.database_address)
    await store.open()
    await store.close()
    app = services.universe.app = make_app(config.model_copy(update={"token": None}))
    return StoppableApp(require_credential(app, part, services.sign_ins, config, open_paths=(HEALTH,)), app.stop)
