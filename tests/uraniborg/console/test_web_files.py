"""The pages of the console: their headers, their addresses, and the files that a build needs."""

import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import httpx
import pytest
from starlette.types import ASGIApp

from tests.installed_wheel import ROOT
from tests.prerequisites import find_built_console
from uraniborg.console.api import make_api
from uraniborg.console.app import secure_api
from uraniborg.console.event_broadcast import EventBroadcast
from uraniborg.console.routes import every_page
from uraniborg.console.services import ConsoleServices
from uraniborg.console.sign_ins import SignIns
from uraniborg.console.web_files import WebFiles
from uraniborg.console.workers.search_process import SearchWorkerProcess

LOCK = ROOT / "console" / "package-lock.json"
PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
        "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types uraniborg"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


@pytest.fixture
def built(tmp_path: Path) -> Path:
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>page</title>")
    (folder / "assets" / "index-1a.js").write_text("1")
    (folder / "assets" / "graph_worker.js").write_text("2")
    (tmp_path / "secret.txt").write_text("secret")
    return folder


def secure(pages: ASGIApp, folder: Path) -> ASGIApp:
    services = SimpleNamespace(
        sign_ins=SignIns(folder / "sign-ins.json"),
        broadcast=EventBroadcast(folder / "changes"),
        searches=SearchWorkerProcess(0),
        owner="Tycho",
    )
    api = make_api(services, every_page.sign_in_router, every_page.event_router)
    return secure_api(api, cast("ConsoleServices", services), pages, port=8420, body_limit=1_000)


@pytest.fixture
async def client(built: Path, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(secure(WebFiles(built), tmp_path))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8420") as opened:
        yield opened


@pytest.mark.parametrize(
    "path", ["/", "/inbox", "/inbox/3f6c:0", "/searches/a%2Fb/review", "/library/10.1000/x.y", "/apis"]
)
async def test_every_address_of_a_page_returns_the_page(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")
    assert "<title>page</title>" in answer.text
    for name, value in PAGE_HEADERS.items():
        assert answer.headers.get_list(name) == [value]


async def test_files_with_a_digest_in_their_name_may_be_cached_for_ever(client: httpx.AsyncClient) -> None:
    answer = await client.get("/assets/index-1a.js")
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert len(answer.headers.get_list("cache-control")) == 1
    missing = await client.get("/assets/index-0.js")
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "no_such_address")


async def test_the_worker_whose_name_has_no_digest_is_asked_for_again(client: httpx.AsyncClient) -> None:
    assert (await client.get("/assets/graph_worker.js")).headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    "path", ["/../secret.txt", "/%2e%2e/secret.txt", "/assets/..%2f..%2fsecret.txt", "/a\\..\\s", "/%00"]
)
async def test_no_address_leads_out_of_the_folder(client: httpx.AsyncClient, path: str) -> None:
    assert "secret" not in (await client.get(path)).text


async def test_pages_are_only_read(client: httpx.AsyncClient) -> None:
    answer = await client.post("/inbox", headers={"X-Uraniborg": "1"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_allowed")


async def test_other_sites_may_link_to_pages_and_to_nothing_else(client: httpx.AsyncClient) -> None:
    elsewhere = {"Sec-Fetch-Site": "cross-site"}
    assert (await client.get("/inbox", headers=elsewhere)).status_code == 200
    assert (await client.get("/assets/index-1a.js", headers=elsewhere)).status_code == 403
    assert (await client.get("/api/health", headers=elsewhere)).status_code == 403


async def test_without_a_build_a_page_says_how_to_make_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("uraniborg.console.web_files.find_web_folder", lambda: None)
    transport = httpx.ASGITransport(secure(WebFiles(), tmp_path))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8420") as client:
        answer = await client.get("/")
    assert answer.status_code == 503
    assert "make console" in answer.text


def test_the_notices_have_the_licence_of_every_package_and_font_of_the_build() -> None:
    folder = find_built_console()
    notices = (folder / "third-party-notices.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (\S+) - \S+ \(([\w.-]+)\)(?:: the font (\S+))?$", notices, re.MULTILINE)
    licences = {name: licence for name, licence, font in headings if not font}
    assert {"preact", "@preact/signals", "temml", "three"} <= licences.keys()
    fonts = {font: licence for _, licence, font in headings if font}
    assert fonts == {path.relative_to(folder).as_posix(): "OFL-1.1" for path in folder.rglob("*.woff*")}
    assert fonts
    for text in (
        "SIL OPEN FONT LICENSE Version 1.1 - 26 February 2007",
        "Copyright 2001-2021 The STIX Fonts Project Authors",
        "The Font Software, modified or unmodified, in part or in whole,\nmust be distributed entirely",
    ):
        assert text in notices


def test_the_lock_holds_the_native_packages_of_all_platforms_and_no_registry() -> None:
    text = LOCK.read_text(encoding="utf-8")
    names = json.loads(text)["packages"].keys()
    for prefix, count in (
        ("@rolldown/binding-", 15),
        ("lightningcss-", 11),
        ("@biomejs/cli-", 8),
        ("@typescript/", 20),
    ):
        assert len([name for name in names if name.startswith(f"node_modules/{prefix}")]) == count, prefix
    assert '"resolved"' not in text
    assert not re.search(r'"integrity": "(?!sha512-)', text)


def test_the_types_of_the_console_are_those_of_the_api() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "write_console_types.py"), "--check"],
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
