"""`paper-library serve`: settings, options and a port, put together."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from paper_library.config import LibraryConfig, load_config, sample_shelf_path
from paper_library.store.manifest import read_manifest
from uraniborg.kernel.errors import MissingExtra, invalid
from uraniborg.kernel.files import shown
from uraniborg.kernel.hosts import authority_of
from uraniborg.kernel.logging import configure_logging


def serve_shelf(options: dict[str, Any], *, as_json: bool) -> None:
    """Serve until interrupted, as the settings say where `options` say nothing. Raises what keeps it from starting."""
    config = _configured(options)
    configure_logging()
    try:
        from paper_library.app import app_of_worker, hand_over, make_app
        from uraniborg.kernel.web import check_bind, run_server, say, take_port
    except ModuleNotFoundError as missing:
        if (missing.name or "").split(".")[0] in {"fastapi", "starlette", "uvicorn"}:
            raise MissingExtra("mcp", "Serving a shelf") from missing
        raise
    if find_spec("uvicorn") is None:
        raise MissingExtra("mcp", "Serving a shelf")
    assert config.shelf is not None
    shelf = config.shelf
    manifest = read_manifest(shelf)
    token = config.token.get_secret_value() if config.token else None
    check_bind(config.host, token, insecure=config.insecure)
    port = take_port(config.host, config.port)
    config = config.model_copy(update={"port": port})
    address = f"http://{authority_of(config.host)}:{port}"
    app = make_app(config)  # also where workers will each make their own: what is wrong is told before they start
    if as_json:
        sys.stdout.write(json.dumps({"url": address, "mcp": f"{address}/mcp", "papers": manifest.papers}) + "\n")
        sys.stdout.flush()
    else:
        say(f"{manifest.papers:,} papers of {shown(shelf)} at {address} (agents: {address}/mcp). Ctrl-C ends it.")
    if config.insecure and not token:
        say("No token is needed: everyone who can reach this address can read the shelf.")
    if config.workers == 1:
        run_server(app, host=config.host, port=port)
    else:
        hand_over(config)
        path = f"{app_of_worker.__module__}:{app_of_worker.__name__}"
        run_server(path, host=config.host, port=port, workers=config.workers, factory=True)


def _configured(options: dict[str, Any]) -> LibraryConfig:
    settings = load_config()
    given = settings.model_dump()
    try:
        config = LibraryConfig.model_validate({**given, **options})
    except ValidationError as exc:
        raise invalid(exc, what="options") from None
    if config.shelf is None:
        from paper_library.sample import sample_shelf

        return config.model_copy(update={"shelf": sample_shelf(sample_shelf_path())})
    return config.model_copy(update={"shelf": Path(config.shelf).expanduser()})
