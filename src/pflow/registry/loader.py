"""Imports the function of a node, which nothing else in the registry does."""

import importlib
import importlib.util
import sys
import threading
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Final

from pflow.errors import NodeChanged, NodeNotLoaded
from pflow.node import Function
from pflow.registry.cache import forget
from pflow.registry.discovery import OWN_FOLDER, OWN_RUN, source_digest
from pflow.registry.interface import Interface
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.files import confine

_one_at_a_time: Final = threading.RLock()


def function_of(interface: Interface, home: Path) -> Function:
    """The function that the interface names. Raises NodeFailed that says why it cannot be had."""
    module, _, name = interface.run.partition(":")
    try:
        found = _own_module(interface, home) if interface.source == "user" else importlib.import_module(module)
    except UraniborgError:
        raise
    except (Exception, SystemExit) as wrong:
        raise NodeNotLoaded(
            f"The code of the node type '{interface.type}' cannot be loaded: {type(wrong).__name__}: {wrong}",
            hint=f"Look at {module}, or install what it needs.",
            node_type=interface.type,
        ) from wrong
    function = getattr(found, name, None)
    if not callable(function):
        raise NodeNotLoaded(
            f"The node type '{interface.type}' names a function {name}, which {module} does not have.",
            hint="Correct `run` in the file that declares it.",
            node_type=interface.type,
        )
    return function


def _own_module(interface: Interface, home: Path) -> ModuleType:
    """The module of a user's node, as it was when the interface was read: what was edited since is another node."""
    run = OWN_RUN.fullmatch(interface.run)
    if run is None:
        raise ValueError("`run` must be `file.py:function`")
    path = confine(home / OWN_FOLDER, run[1])
    source = path.read_bytes()
    digest = source_digest(source)
    if not interface.version.endswith(f"+{digest}"):
        forget(home)
        raise NodeChanged(
            f"{run[1]} changed after the nodes were looked up.",
            hint="Run it again: the new code is taken then.",
            node_type=interface.type,
        )
    name = f"pflow_own_nodes.{path.stem.replace('.', '_')}_{digest}"
    with _one_at_a_time:
        return sys.modules.get(name) or _executed(name, path, source)


def _executed(name: str, path: Path, source: bytes) -> ModuleType:
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
