import re
from pathlib import Path

from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS

from uraniborg.kernel.mcp.envelope import STATELESS_VERSIONS

PAGE = Path(__file__).resolve().parents[4] / "docs" / "reference" / "servers.md"


def test_the_page_about_servers_states_the_versions_that_they_support() -> None:
    table = PAGE.read_text(encoding="utf-8").partition("| server | sessions | versions |")[2].partition("\n\n")[0]
    rows = [line.split(" | ") for line in table.splitlines() if "2024-11-05" in line]
    stated = {server.lstrip("| "): tuple(re.findall(r"\d{4}-\d\d-\d\d", versions)) for server, _, versions in rows}
    assert stated == {
        "`paper-library serve`": STATELESS_VERSIONS,
        "`universe serve`, `paper-search-mcp`, `pflow mcp serve`": tuple(SUPPORTED_PROTOCOL_VERSIONS),
    }
