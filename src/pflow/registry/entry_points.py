"""Find the modules that installed packages offer as nodes (`pflow.nodes`), and import none of them.

`importlib.metadata` is not used: importing it takes longer than loading the whole registry.
"""

import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from pflow.registry.node_files import Stamp, make_path_stamp

GROUP: Final = "pflow.nodes"

Offer = list[str]
"""The distribution, the name of the entry point, and the module that it names."""
Folders = dict[str, tuple[Stamp, list[Offer]]]
"""The stamp and the offers of each folder of the import path."""


def scan_import_path(known_folders: Mapping[str, tuple[Stamp, list[Offer]]]) -> Folders:
    """Return the offers of all folders of the import path. Read only those that changed since `known_folders`."""
    found: Folders = {}
    for entry in sys.path:
        folder = str(entry) or "."
        stamp = make_path_stamp(folder)
        before = known_folders.get(folder)
        if stamp is not None:
            found[folder] = (stamp, before[1] if before and before[0] == stamp else list(_scan_folder(folder)))
    return found


def list_offers(folders: Folders) -> list[Offer]:
    """Return the offers of all folders. If a distribution is installed twice, the first counts."""
    first: dict[str, str] = {}
    return [
        offer
        for folder, (_, found) in folders.items()
        for offer in found
        if first.setdefault(offer[0], folder) == folder
    ]


def find_interface_file(module: str) -> Path | None:
    """Return the JSON file beside a module, located without importing its package."""
    top, *inner = module.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError, AttributeError):
        return None
    if spec is None:
        return None
    if not inner:
        return Path(spec.origin).with_name(f"{top}.json") if spec.origin else None
    files = [Path(place, *inner).with_suffix(".json") for place in spec.submodule_search_locations or ()]
    return next((file for file in files if file.is_file()), files[0] if files else None)


def _scan_folder(folder: str) -> Iterator[Offer]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith((".dist-info", ".egg-info")))
    except OSError:
        return
    for name in names:
        try:
            declared = Path(folder, name, "entry_points.txt").read_bytes()
        except OSError:
            continue
        if GROUP.encode() in declared:
            distribution = name.rpartition(".")[0].partition("-")[0].lower().replace("-", "_")
            yield from (
                [distribution, key, module] for key, module in _parse_entry_points(declared.decode("utf-8", "replace"))
            )


def _parse_entry_points(text: str) -> Iterator[tuple[str, str]]:
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[] ")
        elif section == GROUP and "=" in line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            yield name.strip(), value.partition(":")[0].partition("[")[0].strip()
