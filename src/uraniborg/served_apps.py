"""List what `uraniborg serve` serves: the API, and the HTTP servers of the parts as they serve alone."""

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final

from uraniborg.console.config import read_config
from uraniborg.console.services import ConsoleServices
from uraniborg.credential_check import require_credential
from uraniborg.kernel.http_app import StoppableApp
from uraniborg.served_parts import API, HOST, ServedPart

if TYPE_CHECKING:
    from starlette.types import ASGIApp

_BODY_LIMIT: Final = 2_000_000


def list_parts(services: ConsoleServices, port: int | None) -> list[ServedPart]:
    """Return all servers of the process, the API first, on `port` if it is given. Raise InvalidConfig."""
    from paper_library.config import load_config as load_library_config
    from universe.config import load_config as load_universe_config

    console = read_config().settings
    library, universe = load_library_config(), load_universe_config()
    port = console.port if port is None else port
    return [
        ServedPart(API, "decide, search and run", port, partial(_make_api_app, services), has_mcp=False),
        ServedPart("paper-search", "find papers", console.search_port, None),
        ServedPart("paper-library", "read the shelf", library.port, partial(_make_library_app, services)),
        ServedPart("universe", "simulate universes", universe.port, partial(_make_universe_app, services)),
    ]


async def _make_api_app(services: ConsoleServices, part: ServedPart) -> "ASGIApp":
    return make_api_app(services, part.port)


def make_api_app(services: ConsoleServices, port: int) -> "ASGIApp":
    """Return the API with all routes and the pages of the console, behind their checks."""
    from uraniborg.console.app import make_api, secure_api
    from uraniborg.console.inbox_routes import add_inbox_routes
    from uraniborg.console.installation_routes import add_installation_routes
    from uraniborg.console.note_routes import add_note_routes
    from uraniborg.console.paper_use_routes import add_paper_use_routes
    from uraniborg.console.run_history_routes import add_run_history_routes
    from uraniborg.console.run_routes import add_run_routes
    from uraniborg.console.running_routes import add_running_routes
    from uraniborg.console.schedule_routes import add_schedule_routes
    from uraniborg.console.shelf_routes import add_shelf_routes
    from uraniborg.console.story_routes import add_story_routes
    from uraniborg.console.universe_routes import add_universe_routes
    from uraniborg.console.web_files import WebFiles
    from uraniborg.console.workflow_routes import add_workflow_routes

    api = make_api()
    add_inbox_routes(api, services.inbox)
    add_installation_routes(api, services)
    add_running_routes(api, services)
    add_shelf_routes(api)
    add_note_routes(api)
    add_paper_use_routes(api, services.universe, services.workflows)
    add_universe_routes(api, services.universe)
    add_workflow_routes(api, services.workflows)
    add_run_history_routes(api, services.workflows, services.runs)
    add_run_routes(api, services.workflows, services.runs)
    add_schedule_routes(api, services.workflows)
    add_story_routes(api, services.story)
    return secure_api(
        api,
        services.sign_ins,
        services.broadcast,
        services.searches,
        WebFiles(),
        host=HOST,
        port=port,
        owner=services.owner,
        body_limit=_BODY_LIMIT,
    )


async def _make_library_app(services: ConsoleServices, part: ServedPart) -> "ASGIApp":
    from paper_library.app import HEALTH, make_app
    from paper_library.config import get_sample_shelf_path, load_config
    from paper_library.sample_shelf_builder import sample_shelf

    def open_shelf_and_make_app() -> "ASGIApp":
        config = load_config()
        shelf = config.shelf.expanduser() if config.shelf else sample_shelf(get_sample_shelf_path())
        part.purpose = f"read the shelf {shelf.name}"
        app = make_app(config.model_copy(update={"port": part.port, "shelf": shelf, "token": None}))
        return require_credential(app, part, services.sign_ins, config, open_paths=(HEALTH,))

    return await asyncio.to_thread(open_shelf_and_make_app)


async def _make_universe_app(services: ConsoleServices, part: ServedPart) -> "ASGIApp":
    from universe.app import HEALTH, make_app
    from universe.config import load_config
    from universe.store.factory import make_store

    config = load_config().model_copy(update={"port": part.port})
    store = make_store(config.database_address)
    await store.open()
    await store.close()
    app = services.universe.app = make_app(config.model_copy(update={"token": None}))
    return StoppableApp(require_credential(app, part, services.sign_ins, config, open_paths=(HEALTH,)), app.stop)
