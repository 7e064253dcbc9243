"""Serving universes."""

from typing import Annotated

import typer

from universe.cli.shared import Db, Json, app


@app.command()
def serve(
    db: Db = None,
    host: Annotated[str | None, typer.Option(help="The address to listen at; 127.0.0.1 if left out.")] = None,
    port: Annotated[int | None, typer.Option(help="The port; 3001 if left out, 0 for any that is free.")] = None,
    token: Annotated[str | None, typer.Option(help="What callers must send as a bearer token.")] = None,
    allow_origin: Annotated[
        list[str] | None, typer.Option(metavar="ORIGIN", help="A web origin that may call; may be repeated.")
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A name the server is called by; may be repeated.")
    ] = None,
    insecure: Annotated[
        bool | None, typer.Option("--insecure", help="Serve others without a token: everyone may change everything.")
    ] = None,
    json: Json = False,
) -> None:
    """Serve all universes: REST and streams, and MCP at /mcp."""
    from universe.serving import serve_universes

    options = {
        "db": db,
        "host": host,
        "port": port,
        "token": token,
        "allow_origins": allow_origin,
        "allow_hosts": allow_host,
        "insecure": insecure,
    }
    serve_universes({name: value for name, value in options.items() if value is not None}, as_json=json)
