"""Every test that is written is run."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
A_TEST = re.compile(r"^(?:async )?def test_", re.MULTILINE)


def _is_ignored(path: Path, config: pytest.Config) -> bool:
    """Return True if pytest, by its own rules, does not reach `path` from the folder of all tests."""
    reached = [path, *(folder for folder in path.parents if TESTS in folder.parents)]
    return any(config.hook.pytest_ignore_collect(collection_path=one, config=config) for one in reached)


def test_every_file_of_tests_is_collected(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("ignore") or pytestconfig.getoption("ignore_glob"):
        pytest.skip("this run was asked to leave files out")
    files = sorted(TESTS.rglob("test_*.py"))
    assert len(files) > 400
    assert [path.relative_to(TESTS).as_posix() for path in files if _is_ignored(path, pytestconfig)] == []


def test_no_file_has_tests_without_the_name_of_a_test_file() -> None:
    others = set(TESTS.rglob("*.py")) - set(TESTS.rglob("test_*.py"))
    assert others
    assert [path.name for path in others if A_TEST.search(path.read_text(encoding="utf-8"))] == []
