"""The floor plan: every part has the same rooms, so that who has read one part knows the others.

The section "Rooms" of the architecture page describes the rooms. Here are the tables that the code must follow, and the
exceptions; an exception that nothing needs fails too.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import pytest

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCES: Final = ROOT / "src"
PAGE: Final = ROOT / "docs" / "concepts" / "architecture.md"

MOST_MODULES: Final = 700
MOST_MODULES_OF_FOLDER: Final = 20
ROOMS: Final = ("domain", "store", "service", "api", "cli")
"""A room imports itself and the rooms before it."""
COMMON_MODULES: Final[Mapping[str, str]] = {
    "errors": "domain",
    "config": "store",
    "mcp_server": "api",
    "__main__": "cli",
}
"""The modules that every part may have beside its rooms, and the rooms whose rule they follow."""
KEPT_PATHS: Final[Mapping[str, Mapping[str, str]]] = {
    "paper_search": {
        "models": "domain",
        "citation_keys": "domain",
        "editorial_notices": "domain",
        "recordings": "domain",
        "export": "service",
        "workflow": "service",
        "skills": "service",
        "sources": "service",
        "testing": "service",
    },
    "paper_library": {},
    "universe": {"claims": "domain"},
    "pflow": {"nodes": "service"},
}
"""What else a part has at its top, because programs import it from there, and the rooms whose rule it follows."""
IMPURE_KERNEL: Final = ("store", "http", "processes", "terminal", "mcp", "settings", "language_model")
"""What a domain does not import from the kernel: it uses disks, networks, processes and the environment."""
ALLOWED_IMPORTS: Final[Mapping[tuple[str, str], str]] = {
    ("paper_search.store", "paper_search.workflow"): "a session stores the checkpoints and steps of its workflow",
    ("pflow.domain", "uraniborg.kernel.processes.child_processes"): "secrets are what child processes do not inherit",
}
"""Imports against the rules of the rooms, with the reason for each."""
REPEATED_CLASS_NAMES: Final[Mapping[str, str]] = {
    "EditorialNotice": "documented in paper_search.editorial_notices, and a name in the schemas of shelves",
    "Health": "a name in the schemas of two servers, the console and the universes",
    "RunComparison": "a name in the schemas of workflows and of N-body runs",
    "StrategyPayload": "documented in paper_search.workflow, and a name in the schemas of the inbox",
}


class RepeatedClass(NamedTuple):
    """A class name that several modules use."""

    name: str
    modules: tuple[str, ...]


def list_modules(sources: Path) -> dict[str, Path]:
    """Return the files of all modules by their dotted names; a package has the name of its folder."""
    modules: dict[str, Path] = {}
    for path in sorted(sources.rglob("*.py")):
        parts = path.relative_to(sources).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def list_names_at_top(sources: Path, part: str) -> set[str]:
    """Return the modules and packages at the top of a part, without folders that hold only data."""
    return {name.split(".")[1] for name in list_modules(sources) if name.startswith(f"{part}.")}


def count_modules_by_folder(sources: Path) -> Counter[str]:
    return Counter(path.parent.relative_to(sources).as_posix() for path in list_modules(sources).values())


def find_repeated_modules(sources: Path, package: str) -> list[str]:
    """Return the names that several modules of a package have; packages in it do not count."""
    paths = (sources / package.replace(".", "/")).rglob("*.py")
    return [name for name, count in Counter(path.stem for path in paths).items() if count > 1 and name != "__init__"]


def find_repeated_classes(sources: Path) -> list[RepeatedClass]:
    modules: defaultdict[str, set[str]] = defaultdict(set)
    for module, path in list_modules(sources).items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                modules[node.name].add(module)
    return [RepeatedClass(name, tuple(sorted(found))) for name, found in sorted(modules.items()) if len(found) > 1]


def list_imports(path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    """Yield the modules that a module imports, within functions too, but not those for type checkers alone."""
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in modules else node.module for name in names)
        waiting += ast.iter_child_nodes(node)


def find_forbidden_imports(sources: Path, part: str, kept: Mapping[str, str]) -> set[tuple[str, str]]:
    """Return the imports of a part against the rules of its rooms, as pairs of modules."""
    modules = list_modules(sources)
    rooms = {room: room for room in ROOMS} | dict(COMMON_MODULES) | dict(kept)

    def find_level(module: str) -> int | None:
        package, _, rest = module.partition(".")
        room = rooms.get(rest.split(".")[0]) if package == part else None
        return None if room is None else ROOMS.index(room)

    found: set[tuple[str, str]] = set()
    for module, path in modules.items():
        if (level := find_level(module)) is None:
            continue
        for imported in list_imports(path, modules):
            imported_level = find_level(imported)
            if imported_level is not None and imported_level > level:
                found.add((module, imported))
            package, _, rest = imported.partition("uraniborg.kernel.")
            if level == 0 and not package and rest.split(".")[0] in IMPURE_KERNEL:
                found.add((module, imported))
    return found


def is_below(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def read_section(title: str) -> str:
    """Return a section of the architecture page."""
    return re.split(r"^## ", PAGE.read_text(encoding="utf-8").partition(f"## {title}\n")[2], flags=re.MULTILINE)[0]


def read_rows(section: str) -> dict[str, list[str]]:
    """Return the other cells of each row of the tables of a section, by the code in its first cell."""
    rows = (
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")
    )
    return {cells[0].strip("`/"): cells[1:] for cells in rows if cells[0].startswith("`")}


@pytest.mark.parametrize("part", KEPT_PATHS)
def test_a_part_has_the_five_rooms_and_beside_them_only_what_the_table_keeps(part: str) -> None:
    found = list_names_at_top(SOURCES, part)
    assert found - set(COMMON_MODULES) == {*ROOMS, *KEPT_PATHS[part]}
    assert {"__main__", "mcp_server"} <= found


def test_no_folder_holds_more_modules_than_a_reader_can_take_in_at_once() -> None:
    counts = count_modules_by_folder(SOURCES)
    assert len(counts) > 20
    assert {folder: count for folder, count in counts.items() if count > MOST_MODULES_OF_FOLDER} == {}


@pytest.mark.parametrize("package", [*KEPT_PATHS, "uraniborg.kernel"])
def test_every_module_of_a_part_and_of_the_kernel_has_a_name_of_its_own(package: str) -> None:
    assert find_repeated_modules(SOURCES, package) == []


def test_every_class_has_a_name_of_its_own_except_the_listed_ones() -> None:
    repeated = {repetition.name: repetition.modules for repetition in find_repeated_classes(SOURCES)}
    assert {name: modules for name, modules in repeated.items() if name not in REPEATED_CLASS_NAMES} == {}
    assert set(REPEATED_CLASS_NAMES) - set(repeated) == set()


def test_all_sources_together_have_at_most_700_modules() -> None:
    assert 100 < len(list_modules(SOURCES)) <= MOST_MODULES


@pytest.mark.parametrize("part", KEPT_PATHS)
def test_a_room_imports_only_the_rooms_below_it(part: str) -> None:
    forbidden = find_forbidden_imports(SOURCES, part, KEPT_PATHS[part])
    unlisted = {
        f"{module} imports {imported}"
        for module, imported in forbidden
        if not any(is_below(module, one) and is_below(imported, other) for one, other in ALLOWED_IMPORTS)
    }
    assert sorted(unlisted) == []


def test_every_allowed_import_is_needed() -> None:
    forbidden = set[tuple[str, str]]().union(
        *(find_forbidden_imports(SOURCES, part, kept) for part, kept in KEPT_PATHS.items())
    )
    unneeded = [
        allowed
        for allowed in ALLOWED_IMPORTS
        if not any(is_below(module, allowed[0]) and is_below(imported, allowed[1]) for module, imported in forbidden)
    ]
    assert unneeded == []


def test_the_architecture_page_describes_every_room_and_all_that_a_part_keeps_at_its_top() -> None:
    rows = read_rows(read_section("Rooms"))
    assert [name for name in rows if name in ROOMS] == [*ROOMS]
    described = {part: {code.strip("/") for code in re.findall(r"`([^`]+)`", rows[part][0])} for part in KEPT_PATHS}
    assert described == {part: set(kept) for part, kept in KEPT_PATHS.items()}


MADE_UP: Final = {
    "moon/__init__.py": "from moon.service.phases import list_phases",
    "moon/__main__.py": "from moon.cli.command import main",
    "moon/errors.py": "class MoonError(Exception): ...",
    "moon/helpers.py": "",
    "moon/maps/crater.png": "",
    "moon/domain/__init__.py": "",
    "moon/domain/orbit.py": "def read() -> None:\n    from moon.store import log",
    "moon/domain/tides.py": "from uraniborg.kernel.store.files import Lock\nfrom uraniborg.kernel.errors import X",
    "moon/domain/names.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from moon.cli.command import X",
    "moon/store/__init__.py": "",
    "moon/store/log.py": "import moon.charts.chart\nfrom moon.errors import MoonError",
    "moon/service/__init__.py": "",
    "moon/service/phases.py": "from moon.store.log import x\nfrom moon.domain import orbit\nclass Phase: ...",
    "moon/charts/__init__.py": "",
    "moon/charts/chart.py": "from moon.service.phases import Phase",
    "moon/cli/__init__.py": "",
    "moon/cli/command.py": "from moon.service.phases import list_phases\nif list_phases:\n    class Phase: ...",
}


@pytest.fixture
def made_up(tmp_path: Path) -> Path:
    """Return a folder with a small part that breaks some of the rules."""
    for name, text in MADE_UP.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_modules_and_packages_at_the_top_of_a_part_are_found_and_folders_of_data_are_not(made_up: Path) -> None:
    names = {"__main__", "errors", "helpers", "domain", "store", "service", "charts", "cli"}
    assert list_names_at_top(made_up, "moon") == names


def test_the_modules_of_each_folder_are_counted_with_its_own(made_up: Path) -> None:
    assert count_modules_by_folder(made_up) == {
        "moon": 4,
        "moon/domain": 4,
        "moon/store": 2,
        "moon/service": 2,
        "moon/charts": 2,
        "moon/cli": 2,
    }


def test_a_module_name_of_two_folders_is_found_and_the_names_of_packages_are_not(made_up: Path) -> None:
    (made_up / "moon" / "cli" / "orbit.py").touch()
    (made_up / "moon" / "cli" / "tides").mkdir()
    (made_up / "moon" / "cli" / "tides" / "__init__.py").touch()
    assert find_repeated_modules(made_up, "moon") == ["orbit"]


def test_a_class_name_of_two_modules_is_found_also_below_a_condition(made_up: Path) -> None:
    assert find_repeated_classes(made_up) == [("Phase", ("moon.cli.command", "moon.service.phases"))]


def test_imports_of_later_rooms_and_of_the_impure_kernel_are_found_except_those_for_types(made_up: Path) -> None:
    assert find_forbidden_imports(made_up, "moon", {"charts": "service"}) == {
        ("moon.domain.orbit", "moon.store.log"),
        ("moon.domain.tides", "uraniborg.kernel.store.files"),
        ("moon.store.log", "moon.charts.chart"),
    }
