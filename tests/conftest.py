"""Fixtures and settings every test may rely on."""

import gc
import importlib
import os
import sys
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.installed_programs import find_program
from tests.worker_shares import has_long_time_limit, order_for_workers

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

# Timings never decide a test: a busy machine must not turn a property red.
EXAMPLES = int(os.environ.get("PROPERTY_EXAMPLES", "30"))
settings.register_profile("project", deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("project")

# Rewriting assertions takes most of the time of a collection: the other workers and later runs reuse what is written.
sys.dont_write_bytecode = False


def _import_share(config: pytest.Config) -> None:
    """Import the test files of this worker's share first, so that each file is rewritten by one worker alone."""
    worker = getattr(config, "workerinput", None)
    if worker is None or config.args != config.getini("testpaths"):
        return
    number, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    for path in sorted(Path(__file__).parent.rglob("test_*.py"))[number::count]:
        with suppress(Exception, pytest.skip.Exception):  # the collection imports it again and reports the error
            importlib.import_module(".".join(path.relative_to(config.rootpath).with_suffix("").parts))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Exclude the collected tests from garbage collection, which would take minutes in all."""
    gc.disable()
    _import_share(session.config)
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let every worker start with long tests."""
    worker = getattr(config, "workerinput", None)
    if worker is None:
        return
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    long_files = {item.path for item in items if has_long_time_limit(item)}
    items[:] = order_for_workers(files, long_files, worker["workercount"])


@pytest.fixture(scope="session", autouse=True)
def no_certificates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Provide an empty folder of certificates, because no test uses TLS and loading certificates is slow."""
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("SSL_CERT_FILE", raising=False)
        patched.setenv("SSL_CERT_DIR", str(tmp_path_factory.mktemp("certificates")))
        yield


@pytest.fixture(scope="session", autouse=True)
def own_data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Provide a data folder for tests that set none, so that no change that they make is in the log of the tester."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture
def forked_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let services of this process fork their worker processes, which they start with `python -m MODULE`."""
    monkeypatch.setattr(sys, "executable", find_program("python"))


@pytest.fixture
def few_objects() -> None:
    """Hide the objects of all earlier tests from a test that counts objects repeatedly."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real data kept beside the checkout; tests that need it are skipped where it is absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the shared data folder is not beside this checkout")
    return SHARED_DATA.resolve()
