"""The whole server in one ASGI app: `/mcp`, `/api/v1`, pages, `/healthz`."""

import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from paper_library.config import LibraryConfig
from paper_library.library import Library
from paper_library.mcp_server import make_mcp_server
from paper_library.rest import make_rest_app
from paper_library.store.assets import AssetReader
from paper_library.store.live_shelf import LiveShelf
from paper_library.worker_threads import WorkerThreads
from uraniborg.kernel.hosts import LOOPBACK, names_of
from uraniborg.kernel.logging import configure_logging
from uraniborg.kernel.mcp import stateless_app
from uraniborg.kernel.web import answer_errors, protect

HEALTH: Final = "/healthz"
MCP_PATHS: Final = ("/mcp", "/mcp/")
_CONFIG: Final = "URANIBORG_LIBRARY_SERVE"
"""How the settings reach the workers, which are processes of their own."""


def make_app(config: LibraryConfig) -> ASGIApp:
    """The app for `config`, whose shelf must be set. Raises as opening the shelf does."""
    assert config.shelf is not None
    assets = AssetReader(config.static_base_url, timeout_s=config.asset_timeout_s)
    library = Library(LiveShelf(config.shelf), assets, timeout_s=config.query_timeout_s)
    threads = WorkerThreads(config.threads, query_s=config.query_timeout_s, fetch_s=config.asset_timeout_s)
    server = make_mcp_server(library, threads, extra_tools=config.extra_tools)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
        stop_watching = library.live.watch()
        yield
        stop_watching()
        threads.close()
        library.close()

    origins = [LOOPBACK, *config.allow_origins]
    app = stateless_app(
        server,
        origins=origins,
        body_limit=config.body_limit,
        routes=_routes(library, threads),
        lifespan=lifespan,
    )
    answer_errors(app)
    token = config.token.get_secret_value() if config.token else None
    return protect(
        app,
        token=token,
        hosts=names_of(config.host, config.allow_hosts),
        origins=origins,
        is_page=_is_page,
        open_paths=(HEALTH,),
        own_head=MCP_PATHS,
    )


def _is_page(path: str) -> bool:
    return path == "/" or path.startswith(("/papers/", "/browse/"))


def _routes(library: Library, threads: WorkerThreads) -> list[BaseRoute]:
    from paper_library.pages import make_page_routes

    async def health(_request: Request) -> Response:
        problem = library.live.problem
        return JSONResponse(
            {
                "status": "ok" if problem is None else "serving_previous_shelf",
                "build_id": library.build_id,
                "papers": library.live.current().manifest.papers,
                **({"problem": problem.code} if problem else {}),
            }
        )

    return [
        Route(HEALTH, health),
        Mount("/api/v1", make_rest_app(library, threads)),
        *make_page_routes(library, threads),
    ]


def hand_over(config: LibraryConfig) -> None:
    """Leave the settings where workers find them."""
    dumped = config.model_dump(mode="json")
    dumped["token"] = config.token.get_secret_value() if config.token else None
    os.environ[_CONFIG] = json.dumps(dumped)


def app_of_worker() -> ASGIApp:
    """What each worker process serves, for as long as the one that started it is there."""
    from uraniborg.kernel.running import end_with_parent

    end_with_parent()
    configure_logging()
    return make_app(LibraryConfig.model_validate_json(os.environ[_CONFIG]))
