"""A small shelf with every kind of input, served over REST."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx

from paper_library.service.build.builder import build_shelf
from tests.paper_library.operations.command_runs import start_server

HOSTILE = """# Title <script>alert(1)</script>

<img src=x onerror="alert(2)"> <a href="javascript:alert(3)" onclick="alert(4)">click</a>
[link](javascript:alert%285%29) [upper](JaVaScRiPt:alert(6)) [tab](java&#x09;script:alert(7))
[page](data:text/html;base64,PHNjcmlwdD4=) ![picture](data:image/svg+xml;base64,PHN2Zz4=)

<svg onload="alert(8)"><script>alert(9)</script></svg>
<iframe src="https://evil.example"></iframe><object data="x"></object><embed src="x">
<style>body { background: url(https://evil.example) }</style><p style="position:fixed">styled</p>
<form action="https://evil.example"><input name=q><button formaction="javascript:alert(10)">go</button></form>
<meta http-equiv=refresh content="0;url=https://evil.example"><base href="https://evil.example/">
<link rel=stylesheet href="https://evil.example/x.css"><math><mi xlink:href="javascript:alert(11)">x</mi></math>
<noscript><p title="</noscript><img src=x onerror=alert(12)>"></noscript>

<a href="https://good.example/paper">good link</a> and **bold** and `code`

| a | b |
|---|---|
| <script>alert(13)</script> | 2 |
"""
MARKDOWN = "# Comets\n\n" + "A tail points away from the Sun. " * 40
BIBTEX = """@article{brahe1573, title={The new star}, author={Brahe, Tycho and Brahe, Sophie}, year=1573,
  doi={10.1000/Star}, keywords={stars, Geometry}, journal={Annals}, abstract={A star where none had been.}}
@article{kepler1609, title={A new astronomy}, author={Kepler, Johannes}, year=1609, keywords={geometry, orbits},
  journal={Annals}, abstract={Orbits are ellipses, found by a star of war.}}
"""


def build_mixed_shelf(folder: Path) -> Path:
    """Build the shelf in its own folder."""
    source = folder / "papers"
    (source / "summaries" / "deep_read").mkdir(parents=True)
    (source / "papers.bib").write_text(BIBTEX)
    (source / "comets.md").write_text(f"---\ntitle: On comets\nauthors: [Sophie Brahe]\n---\n{MARKDOWN}")
    (source / "comets.de.md").write_text("# Kometen\n\nEin Schweif <script>alert(1)</script>\n")
    (source / "hostile.md").write_text(f"---\ntitle: Hostile\nauthors: [Mallory Moss]\n---\n{HOSTILE}")
    (source / "summaries" / "deep_read" / "brahe1573.json").write_text('{"summary": "It shone."}')
    files = [source / name for name in ("papers.bib", "comets.md", "comets.de.md", "hostile.md")]
    build_shelf(files, folder / "shelf", summaries=source / "summaries")
    return folder / "shelf"


@contextmanager
def open_rest_client(folder: Path) -> Generator[httpx.Client]:
    """Yield a client whose base address is that of the REST interface."""
    with start_server(folder, build_mixed_shelf(folder)) as served:
        served.client.base_url = httpx.URL(f"{served.url}/api/v1/")
        yield served.client


def find_paper(rest: httpx.Client, title: str) -> str:
    (paper_id,) = rest.get("lookup", params={"title": title}).json()["paper_ids"]
    return paper_id
