"""The real server, for external tools."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.server_process import ServerProcess, start_server


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder: Path = tmp_path_factory.mktemp("conformance")
    with start_server(inputs.build_rich_shelf(folder), folder) as process:
        yield process
