"""What `tools/call get_paper_metadata` over HTTP costs the server, in CPU of its process, on a real shelf.

Claims: at least 12x less than the SDK's own stateless JSON transport serving the same tool, and at most 2x of a bare
Starlette route that does the same look-up and sends the same bytes. One worker each, requests for ever other papers.
"""

import json
import statistics
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from bench_mcp_http import CALLS, CONNECTIONS, ROUNDS, WARM_UP, HttpServer, measure_cpu_per_call, serve
from ratios import record_ratio
from shelves import CORPUS, make_temporary_folder, need_data

from paper_library.config import LibraryConfig
from paper_library.mcp_server import FOREIGN
from paper_library.service.build.builder import build_shelf
from paper_library.service.library import Library
from uraniborg.kernel.mcp.replies import make_foreign_meta

NAMES: Final = {"sdk": "the SDK's stateless transport", "ours": "paper-library", "bare": "bare Starlette route"}


def sdk_app(shelf: Path) -> Any:
    from mcp.server.fastmcp import FastMCP

    server = FastMCP("bench", stateless_http=True, json_response=True, log_level="WARNING")
    library = Library.open(shelf)

    @server.tool()
    async def get_paper_metadata(paper_id: str) -> dict[str, Any]:
        """Look up a paper."""
        return dict(library.metadata(paper_id))

    return server.streamable_http_app()


def our_app(shelf: Path) -> Any:
    from paper_library.api.app import make_app

    return make_app(LibraryConfig(shelf=shelf))


def bare_app(shelf: Path) -> Any:
    import orjson
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    library = Library.open(shelf)
    mark = orjson.dumps(make_foreign_meta(FOREIGN))

    async def look_up(request: Request) -> Response:
        asked = orjson.loads(await request.body())
        said = library.metadata_json(asked["params"]["arguments"]["paper_id"])
        text = orjson.dumps(said.decode())
        body = (
            b'{"jsonrpc":"2.0","id":%d,"result":{"_meta":%b,"content":[{"type":"text","text":%b,"_meta":%b}],'
            b'"structuredContent":%b,"isError":false}}'
        ) % (asked["id"], mark, text, mark, said)
        return Response(body, media_type="application/json")

    return Starlette(routes=[Route("/mcp", look_up, methods=["POST"])])


def main() -> None:
    need_data()
    shelf = make_temporary_folder() / "http"
    build_shelf(CORPUS[:1], shelf)
    found = (
        Library.open(shelf).live.get_current().get_connection().execute("SELECT paper_id FROM paper ORDER BY paper_id")
    )
    ids = [paper_id for (paper_id,) in found]

    def params(number: int) -> dict[str, Any]:
        return {"name": "get_paper_metadata", "arguments": {"paper_id": ids[number * 31 % len(ids)]}}

    with ExitStack() as stack:
        servers = {name: HttpServer([sys.executable, __file__, name, str(shelf)], params, stack) for name in NAMES}
        answers = {name: json.loads(server.call(CONNECTIONS)) for name, server in servers.items()}
        assert answers["ours"] == answers["bare"]
        assert answers["ours"]["result"]["structuredContent"] == answers["sdk"]["result"]["structuredContent"]
        rounds = [
            {name: measure_cpu_per_call(server) for name, server in servers.items()} for _ in range(WARM_UP + ROUNDS)
        ]
    rounds = rounds[WARM_UP:]
    print(f"  server CPU per call (median of {ROUNDS} times {CALLS} calls, alternating)")
    for name, title in NAMES.items():
        print(f"    {title:<30} {statistics.median(measured[name] for measured in rounds) * 1e6:7.1f} us")
    more = statistics.median(measured["sdk"] / measured["ours"] for measured in rounds)
    bare = statistics.median(measured["ours"] / measured["bare"] for measured in rounds)
    print(f"  the SDK's transport costs {more:.1f}x of ours (claim: at least 12x)")
    record_ratio("the SDK's transport to ours", more)
    record_ratio("ours to the bare route", bare)
    print(f"  ours costs {bare:.2f}x of the bare route (claim: at most 2x)")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        serve({"sdk": sdk_app, "ours": our_app, "bare": bare_app}[sys.argv[1]](Path(sys.argv[2])))
    else:
        main()
