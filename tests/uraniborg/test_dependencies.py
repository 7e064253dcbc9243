"""The licences of the dependencies stay permissive, and every extra installs on every machine."""

import re
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement

ROOT: Final = Path(__file__).parents[2]
COPYLEFT: Final = {"rebound", "pymupdf"}
"""GPL and AGPL: peers of benchmarks and tests at most."""


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def extras(project: dict[str, Any]) -> dict[str, list[str]]:
    return project["project"]["optional-dependencies"]


def locked(lock: str) -> set[str]:
    return set(re.findall(r"^([a-z0-9._-]+)==", (ROOT / "requirements" / lock).read_text(), re.MULTILINE))


def test_no_dependency_and_no_extra_is_copyleft(project: dict[str, Any]) -> None:
    needed = [*project["project"]["dependencies"], *(text for one in extras(project).values() for text in one)]
    assert not {Requirement(text).name.lower() for text in needed} & COPYLEFT


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
