"""The real server, to be looked at with the tools of others."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.server_process import Process, serve


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    folder: Path = tmp_path_factory.mktemp("conformance")
    with serve(inputs.build(folder), folder) as process:
        yield process
