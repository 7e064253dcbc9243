"""Import the function of a node. Nothing else in the registry imports code of nodes."""

import importlib
import importlib.util
import sys
import threading
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Final, cast

from pflow.errors import NodeChanged, NodeNotLoaded
from pflow.node import Function
from pflow.registry.cache import delete_cache
from pflow.registry.discovery import OWN_FOLDER, OWN_RUN, digest_source
from pflow.registry.interface import Interface
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.files import confine_path

_load_lock: Final = threading.RLock()


def load_function(interface: Interface, home: Path) -> Function:
    """Return the function of the interface. Raise NodeNotLoaded with the reason."""
    module, _, name = interface.run.partition(":")
    try:
        found = _load_user_module(interface, home) if interface.source == "user" else importlib.import_module(module)
    except UraniborgError:
        raise
    except (Exception, SystemExit) as error:
        raise NodeNotLoaded(
            f"The code of the node type '{interface.type}' cannot be loaded: {type(error).__name__}: {error}",
            hint=f"Check {module}, or install its dependencies.",
            node_type=interface.type,
        ) from error
    function = getattr(found, name, None)
    if not callable(function):
        raise NodeNotLoaded(
            f"The node type '{interface.type}' names a function {name}, which {module} does not have.",
            hint="Correct `run` in the file that declares it.",
            node_type=interface.type,
        )
    return cast("Function", function)


def _load_user_module(interface: Interface, home: Path) -> ModuleType:
    """Return the module of a user's node. Raise NodeChanged if the file was edited after the interface was read."""
    run = OWN_RUN.fullmatch(interface.run)
    if run is None:
        raise ValueError("`run` must be `file.py:function`")
    path = confine_path(home / OWN_FOLDER, run[1])
    source = path.read_bytes()
    digest = digest_source(source)
    if not interface.version.endswith(f"+{digest}"):
        delete_cache(home)
        raise NodeChanged(
            f"{run[1]} changed after the nodes were discovered.",
            hint="Run the workflow again to use the new code.",
            node_type=interface.type,
        )
    name = f"pflow_own_nodes.{path.stem.replace('.', '_')}_{digest}"
    with _load_lock:
        return sys.modules.get(name) or _execute_module(name, path, source)


def _execute_module(name: str, path: Path, source: bytes) -> ModuleType:
    # Not by the loader itself, which trusts compiled files by the second.
    loader = SourceFileLoader(name, str(path))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        exec(loader.source_to_code(source, str(path)), module.__dict__)  # noqa: S102 - the user's own node
    except BaseException:
        del sys.modules[name]
        raise
    return module
