"""Serve the built pages of the console beside the API."""

import asyncio
import re
from pathlib import Path
from typing import Final

from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.types import Receive, Scope, Send

from uraniborg.console.request_checks import is_api_path
from uraniborg.kernel.http.header_checks import MethodNotAllowed, make_error_response
from uraniborg.kernel.http.secure_app import NoSuchAddress

_ASSETS: Final = "/assets/"
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
"""The media types of the files that a build writes; what the machine has registered may differ."""
_FILE_PATH: Final = re.compile(r"(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+")
_IMMUTABLE: Final = "public, max-age=31536000, immutable"
_WORKER: Final = "/assets/graph_worker.js"
"""The one asset without a hash in its name: the pages know a single address of a worker."""


def find_web_folder() -> Path | None:
    """Return the folder of the built pages: that of the wheel, or that of a checkout. None if nothing is built."""
    for folder in (Path(__file__).parent / "web", Path(__file__).parents[3] / "console" / "dist"):
        if (folder / "index.html").is_file():
            return folder
    return None


def is_page(path: str) -> bool:
    """Return True for addresses of pages, to which other sites may link."""
    return not is_api_path(path) and not path.startswith(_ASSETS)


class WebFiles:
    """Serves the files of a folder, by default the built pages; every other address is a page of the console."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
            response = make_error_response(MethodNotAllowed("This method is not allowed here.", hint="Use GET."))
        else:
            response = await asyncio.to_thread(self._find_response, scope["path"])
        await response(scope, receive, send)

    def _find_response(self, path: str) -> Response:
        folder = self._folder or find_web_folder()
        if folder is None:
            return HTMLResponse(_NOT_BUILT, 503)
        if _FILE_PATH.fullmatch(path) and (file := folder / path[1:]).is_file():
            return _send_file(file, _IMMUTABLE if path.startswith(_ASSETS) and path != _WORKER else "no-cache")
        if path.startswith(_ASSETS):
            return make_error_response(
                NoSuchAddress("There is nothing at this address.", hint="The console was updated: reload the page.")
            )
        return _send_file(folder / "index.html", "no-cache")


def _send_file(file: Path, caching: str) -> Response:
    media_type = _TYPES.get(file.suffix, "application/octet-stream")
    return FileResponse(file, media_type=media_type, headers={"Cache-Control": caching})


_NOT_BUILT: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<title>Uraniborg: the console is not built</title></head>
<body><main><h1>The console is not built</h1>
<p>The server runs, and its API is under <code>/api</code>. This is a checkout whose pages were not built yet.</p>
<p>Run <code>make console</code> in the checkout, then reload this page.</p>
</main></body></html>
"""
