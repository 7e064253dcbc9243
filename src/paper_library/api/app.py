"""Assemble the server in one ASGI app: `/mcp`, `/api/v1`, pages, `/healthz`."""

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

from paper_library.api.rest import make_rest_app
from paper_library.config import LibraryConfig
from paper_library.mcp_server import make_mcp_server
from paper_library.service.library import Library
from paper_library.service.live_shelf import LiveShelf
from paper_library.service.worker_threads import WorkerThreads
from paper_library.store.assets import AssetReader
from uraniborg.kernel.http.secure_app import list_origins, secure_app
from uraniborg.kernel.logging import configure_logging
from uraniborg.kernel.mcp import make_stateless_app

HEALTH: Final = "/healthz"
_CONFIG: Final = "URANIBORG_LIBRARY_SERVE"
"""The variable with the settings for worker processes."""


def make_app(config: LibraryConfig) -> ASGIApp:
    """Return the app for `config`, whose shelf must be set. Raise the errors of `LiveShelf`."""
    assert config.shelf is not None
    assets = AssetReader(config.static_base_url, timeout_s=config.asset_timeout_s)
    library = Library(LiveShelf(config.shelf), assets, timeout_s=config.query_timeout_s)
    threads = WorkerThreads(config.threads, query_s=config.query_timeout_s, fetch_s=config.asset_timeout_s)
    server = make_mcp_server(library, threads, extra_tools=config.extra_tools)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
        stop_watching = library.live.start_watching()
        yield
        stop_watching()
        threads.close()
        library.close()

    app = make_stateless_app(
        server,
        origins=list_origins(config),
        body_limit=config.body_limit,
        routes=_make_routes(library, threads),
        lifespan=lifespan,
    )
    return secure_app(app, config, is_page=_is_page, open_paths=(HEALTH,))


def _is_page(path: str) -> bool:
    return path == "/" or path.startswith(("/papers/", "/browse/"))


def _make_routes(library: Library, threads: WorkerThreads) -> list[BaseRoute]:
    from paper_library.api.html_pages import make_page_routes

    async def answer_health(_request: Request) -> Response:
        problem = library.live.problem
        return JSONResponse(
            {
                "status": "ok" if problem is None else "serving_previous_shelf",
                "build_id": library.build_id,
                "papers": library.live.get_current().manifest.papers,
                **({"problem": problem.code} if problem else {}),
            }
        )

    return [
        Route(HEALTH, answer_health),
        Mount("/api/v1", make_rest_app(library, threads)),
        *make_page_routes(library, threads),
    ]


def export_worker_config(config: LibraryConfig) -> None:
    """Write the settings to the environment, where worker processes read them."""
    dumped = config.model_dump(mode="json")
    dumped["token"] = config.get_plain_token()
    os.environ[_CONFIG] = json.dumps(dumped)


def make_worker_app() -> ASGIApp:
    """Return the app of a worker process, which exits with the process that started it."""
    from uraniborg.kernel.http.uvicorn_server import exit_with_parent

    exit_with_parent()
    configure_logging()
    return make_app(LibraryConfig.model_validate_json(os.environ[_CONFIG]))
