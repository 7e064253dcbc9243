"""`paper-library serve`: read options and settings, open the shelf, and start the server."""

from pathlib import Path

from paper_library.config import LibraryConfig, get_sample_shelf_path, load_config
from paper_library.store.layout import read_manifest
from uraniborg.kernel.http.serve_command import apply_options, require_server_extra, serve
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.logging import configure_logging
from uraniborg.kernel.store.files import display_path


def serve_shelf(options: dict[str, object], *, as_json: bool) -> None:
    """Serve a shelf until interrupted; `options` override the settings. Raise the error that prevents the start."""
    config = _load_config_and_ensure_shelf(options)
    configure_logging()
    with require_server_extra("Serving a shelf"):
        from paper_library.api.app import export_worker_config, make_app, make_worker_app
    assert config.shelf is not None
    shelf = config.shelf
    papers = read_manifest(shelf).papers
    if config.workers > 1:
        export_worker_config(config)
    serve(
        config,
        lambda: make_app(config),
        describe=lambda address: (
            f"{plural(papers, 'paper')} of {display_path(shelf)} at {address} (agents: {address}/mcp). "
            "Press Ctrl-C to stop."
        ),
        facts={"papers": papers},
        warning="No token is needed: everyone who can reach this address can read the shelf.",
        as_json=as_json,
        workers=config.workers,
        worker_factory=f"{make_worker_app.__module__}:{make_worker_app.__name__}",
    )


def _load_config_and_ensure_shelf(options: dict[str, object]) -> LibraryConfig:
    config = apply_options(load_config(), options)
    if config.shelf is None:
        from paper_library.service.shelf_catalog import sample_shelf

        return config.model_copy(update={"shelf": sample_shelf(get_sample_shelf_path())})
    return config.model_copy(update={"shelf": Path(config.shelf).expanduser()})
