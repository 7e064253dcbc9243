"""Dependencies are those that the code imports, their licences are permissive, and each extra installs everywhere."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any, Final

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.uraniborg.test_imports import PACKAGES

ROOT: Final = Path(__file__).parents[2]
COPYLEFT: Final = {"rebound", "pymupdf"}
"""GPL and AGPL: peers of benchmarks and tests at most."""
LOADED_BY_UVICORN: Final = {"httptools", "uvloop"}


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def extras(project: dict[str, Any]) -> dict[str, list[str]]:
    return project["project"]["optional-dependencies"]


def locked(lock: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9._-]+)==", (ROOT / "requirements" / lock).read_text(), re.MULTILINE))


def declared_dependencies(project: dict[str, Any]) -> set[str]:
    """Return the names of the dependencies of the core and of all extras."""
    texts = [*project["project"]["dependencies"], *(text for extra in extras(project).values() for text in extra)]
    return {str(canonicalize_name(Requirement(text).name)) for text in texts} - {"uraniborg"}


def imported_modules(path: Path) -> set[str]:
    """Return the top-level modules that a file imports, also with `import_module("name")`."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                modules.update(name.name for name in names)
            case ast.ImportFrom(module=str(module)):
                modules.add(module)
            case ast.Call(func=ast.Name(id="import_module"), args=[ast.Constant(value=str(module))]):
                modules.add(module)
            case _:
                pass
    return {module.partition(".")[0] for module in modules}


def test_the_declared_dependencies_are_those_that_the_code_imports(project: dict[str, Any]) -> None:
    modules = {module for path in (ROOT / "src").rglob("*.py") for module in imported_modules(path)}
    distributions = packages_distributions()
    imported = {
        canonicalize_name(distributions.get(module, [module])[0])
        for module in modules - sys.stdlib_module_names - set(PACKAGES)
    }
    declared = declared_dependencies(project)
    assert declared - imported == LOADED_BY_UVICORN
    assert imported - declared == set()


def test_no_dependency_and_no_extra_is_copyleft(project: dict[str, Any]) -> None:
    assert not declared_dependencies(project) & COPYLEFT


def test_rebound_is_locked_for_development_alone() -> None:
    assert "rebound" in locked("dev.lock")
    assert "rebound" not in locked("core.lock")


def test_heyoka_is_the_extra_nbody_and_in_no_lock(project: dict[str, Any]) -> None:
    (text,) = extras(project)["nbody"]
    assert Requirement(text).name == "heyoka"
    assert "heyoka" not in locked("core.lock") | locked("dev.lock")
    assert all("nbody" not in Requirement(text).extras for text in extras(project)["all"])


@pytest.mark.parametrize(
    ("system", "machine", "installs"),
    [
        ("linux", "x86_64", True),
        ("linux", "aarch64", True),
        ("linux", "riscv64", False),
        ("darwin", "arm64", False),
        ("win32", "AMD64", False),
    ],
)
def test_the_extra_nbody_asks_for_heyoka_only_where_wheels_exist(
    project: dict[str, Any], system: str, machine: str, installs: bool
) -> None:
    marker = Requirement(extras(project)["nbody"][0]).marker
    assert isinstance(marker, Marker)
    assert marker.evaluate({"sys_platform": system, "platform_machine": machine}) is installs


@pytest.mark.parametrize("lock", ["core.lock", "dev.lock"])
def test_the_locks_name_no_registry(lock: str) -> None:
    assert not re.search(r"^--|https?://", (ROOT / "requirements" / lock).read_text(), re.MULTILINE)


def test_every_extra_is_documented(project: dict[str, Any]) -> None:
    page = (ROOT / "docs" / "reference" / "settings.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|", page.partition("## Optional dependencies")[2], re.MULTILINE)
    assert rows == list(extras(project))
