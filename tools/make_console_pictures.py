"""Take pictures of the pages of the console in both themes, wide and at phone width.

python tools/make_console_pictures.py [FOLDER] [PATH or NAME ...]

Look at the pictures after a change of a page. `docs/` uses some of them.

Starts `uraniborg serve` in a temporary home with an offline trial search, and needs Chromium and a built console.
For pictures of the story its steps are run, with N-body runs for ten years, which takes minutes.
The default folder is docs/images/console. PATH and NAME restrict the pictures to these pages, such as /inbox or home.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, Error, Page, sync_playwright

ROOT: Final = Path(__file__).resolve().parents[1]
SIZES: Final = {"desk": (1440, 900), "phone": (390, 844)}
PUBLISH: Final = {
    "nodes": [
        {
            "id": "write_notes",
            "type": "approval",
            "params": {"question": "Write 14 notes to the library?", "details": {"notes": 14, "collection": "Moons"}},
        }
    ]
}


DIGEST: Final = {
    "inputs": {
        "topic": {"type": "string", "required": True, "description": "What the papers are about."},
        "days": {"type": "integer", "default": 7, "description": "How far back to look."},
        "token": {"type": "string", "secret": True, "default": "", "description": "Key of the archive."},
    },
    "nodes": [
        {
            "id": "collect",
            "type": "shell",
            "purpose": "Collect new papers.",
            "params": {"command": "printf '3 papers on %s' ${topic}"},
        },
        {
            "id": "clean",
            "type": "echo",
            "purpose": "Clean the titles, one by one.",
            "params": {"message": "${item}"},
            "batch": {"items": ["Tides of h", "Masses of the seven", "A chain of resonances"]},
        },
        {"id": "count", "type": "echo", "purpose": "Count the papers.", "params": {"message": "${clean.count} papers"}},
        {"id": "read-notes", "type": "shell", "purpose": "Read your notes.", "params": {"command": "cat notes.md"}},
        {
            "id": "summarise",
            "type": "echo",
            "purpose": "Write the digest.",
            "params": {"message": "${count.echo} in ${days} days. ${read-notes.stdout}"},
        },
        {
            "id": "approve",
            "type": "approval",
            "params": {"question": "Send the digest on ${topic}?", "details": {"papers": "${clean.count}"}},
        },
        {"id": "send", "type": "echo", "purpose": "Send it.", "params": {"message": "sent"}},
    ],
    "edges": [
        {"from": "collect", "to": "clean"},
        {"from": "collect", "to": "read-notes"},
        {"from": "clean", "to": "count"},
        {"from": "count", "to": "summarise"},
        {"from": "read-notes", "to": "summarise"},
        {"from": "summarise", "to": "approve"},
        {"from": "approve", "to": "send"},
    ],
    "outputs": {"digest": {"source": "${summarise.echo}", "description": "The digest."}},
}


class Station:
    """A running server, and requests to it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        (home / "uraniborg" / "data" / "story").mkdir(parents=True)  # the pages show the data of the story
        env = {
            **os.environ,
            "HOME": str(home),
            "URANIBORG_HOME": str(home / "uraniborg"),
            "URANIBORG_USER": "Sophie Brahe",
            "URANIBORG_PAPER_SEARCH__OFFLINE": "true",
            "URANIBORG_CONSOLE__SEARCH_PORT": "0",
            "URANIBORG_LIBRARY__PORT": "0",
            "URANIBORG_UNIVERSE__PORT": "0",
        }
        command = [sys.executable, "-m", "uraniborg", "serve", "--port", "0", "--json"]
        self.process = subprocess.Popen(command, env=env, cwd=home, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        started = json.loads(self.process.stdout.readline())
        self.url: str = started["url"]
        self.token: str = started["token"]
        self.credential = self.token
        self.credential = self.send("POST", "/api/sign-in", {"token": self.token, "name": "Sophie Brahe"})["key"]

    def send(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self.credential}", "X-Uraniborg": "1", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, headers, method=method)  # noqa: S310 - loopback
        with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310 - loopback
            text = response.read()
        return json.loads(text) if text else None

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=60)


def prepare(station: Station) -> dict[str, str]:
    """Start searches and a run; return the values of parameters in addresses."""
    for origin, name in (("trappist-1", "TRAPPIST-1"), ("solar-system", "Solar System")):
        station.send("POST", "/api/universes", {"id": origin, "name": name, "from": origin})
    question = "Efficient solar cells since 1985"
    reviewed = station.send("POST", "/api/searches", {"query": question})
    station.send("POST", f"/api/searches/{reviewed['session_id']}/decide", {"action": "approve"})
    rejected = station.send("POST", "/api/searches", {"query": "Roche limit of rubble piles"})
    body = {"action": "reject", "note": "too broad, keep to three sources"}
    station.send("POST", f"/api/inbox/{rejected['checkpoint_id']}/decide", body)
    station.send("PUT", "/api/drafts/weekly-digest", {"document": PUBLISH})
    station.send("POST", "/api/runs", {"name": "weekly-digest"})
    station.send("POST", "/api/universes", {"name": "TRAPPIST-1", "from": "trappist-1"})
    runs = run_digest(station)
    planned = station.send("POST", "/api/searches", {"query": "How do moons of rocky exoplanets form and stay bound?"})
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if sum(station.send("GET", "/api/inbox?state=pending")["pending"].values()) >= 4:
            break
        time.sleep(0.2)
    universe = station.send("POST", "/api/universes", {"name": "TRAPPIST-1", "from": "trappist-1"})
    heavier = {"type": "updateStar", "id": "trappist-1-h", "payload": {"mass": 1.958e-6}, "reason": "twice as heavy"}
    station.send("POST", f"/api/universes/{universe['id']}/commands", heavier)
    jobs = f"/api/universes/{universe['id']}/jobs"
    job = station.send("POST", jobs, {"kind": "nbody", "days": 60})["id"]
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and station.send("GET", f"{jobs}/{job}")["state"] in ("queued", "running"):
        time.sleep(0.2)
    base = f"/api/searches/{reviewed['session_id']}"
    papers = [paper["id"] for paper in station.send("GET", f"{base}/papers")["papers"]]
    marks = {papers[0]: "include", papers[1]: {"status": "exclude", "reason": "Other technology"}, papers[3]: "maybe"}
    station.send("PUT", f"{base}/marks", {"decisions": marks})
    return {
        **runs,
        "session": reviewed["session_id"],
        "paper": papers[2],
        "planned": planned["session_id"],
        "universe": universe["id"],
        "job": job,
        "checkpoint": planned["checkpoint_id"],
    }


def run_story(station: Station) -> None:
    """Run the steps of the story until it has answered for two masses."""
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        state = station.send("GET", "/api/story")
        if state["error"] or state["next"] == "scrub":
            return
        if state["running"]:
            time.sleep(1)
        else:
            station.send("POST", f"/api/story/steps/{state['next']}", {})


def run_digest(station: Station) -> dict[str, str]:
    """Save a workflow, let one run fail and another wait, write a draft with mistakes; return the ids of the runs."""
    station.send("PUT", "/api/drafts/digest", {"document": DIGEST})
    saving = {"final_name": "arxiv-digest", "description": "Send a digest of the week's papers after you approve it."}
    station.send("POST", "/api/drafts/digest/save", saving)
    nodes = [{**node, "tpye": node["type"]} if node["id"] == "count" else node for node in DIGEST["nodes"]]
    broken = {**DIGEST, "nodes": [{**nodes[1], "type": "ehco"}, *nodes[2:4]], "edges": DIGEST["edges"][2:3]}
    station.send("PUT", "/api/drafts/digest-with-counts", {"document": broken})
    failed = wait_for_end(station, {"topic": "TRAPPIST-1"})
    (Path(station.home) / "notes.md").write_text("Planet h is the least certain one.")
    waiting = wait_for_end(station, {"topic": "TRAPPIST-1"})
    return {"failed": failed, "waiting": waiting}


def wait_for_end(station: Station, inputs: dict[str, Any]) -> str:
    """Run the digest and return the id of the run when it has ended."""
    run_id = station.send("POST", "/api/runs", {"name": "arxiv-digest", "inputs": inputs})["run_id"]
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and station.send("GET", f"/api/runs/{run_id}")["status"] == "running":
        time.sleep(0.2)
    return run_id


PAGES: Final = {
    "home": "/",
    "inbox": "/inbox/{checkpoint}",
    "inbox-list": "/inbox",
    "searches": "/searches",
    "new-search": "/searches?new=1",
    "strategy": "/searches/{planned}/strategy",
    "review": "/searches/{session}/review/{paper}",
    "review-list": "/searches/{session}/review",
    "progress": "/searches/{session}/progress",
    "library": "/library",
    "shelf": "/library/sample-shelf?q=habitable+planets+transit",
    "paper": "/library/sample-shelf/gillon2017?q=resonance+chain&at=2600",
    "paper-beside": "/library/sample-shelf/shockley1961?beside=lang:de",
    "paper-used": "/library/sample-shelf/agol2021",
    "cite": "/library/sample-shelf/gillon2017?cite",
    "palette": "/library?palette",
    "workflows": "/workflows",
    "workflow": "/workflows/arxiv-digest",
    "editor": "/workflows/digest-with-counts/edit?source=draft",
    "runs": "/workflows?view=runs",
    "run": "/runs/{failed}?node=read-notes",
    "timeline": "/runs/{waiting}?view=timeline",
    "items": "/runs/{waiting}?node=clean&item=1",
    "approval": "/runs/{waiting}",
    "comparison": "/runs/{failed}/compare/{waiting}",
    "trappist": "/universes/trappist-1?t=4110.3&body=trappist-1-e",
    "solar": "/universes/solar-system?t=9817&body=earth",
    "jupiter": "/universes/solar-system?t=9817&follow=jupiter&body=jupiter&log=0",
    "universes": "/universes",
    "create-universe": "/universes?new=1",
    "universe": "/universes/{universe}?body=trappist-1-h",
    "universe-answer": "/universes/{universe}?job={job}",
    "universe-compared": "/universes/{universe}?with=trappist-1",
    "story": "/story",
    "story-answer": "/story/break",
    "settings": "/settings",
    "connections": "/connections",
    "schedules": "/workflows?view=schedules",
    "nothing-found": "/library/sample-shelf?q=qwertyuiop",
    "not-found": "/nothing/here",
    "offline": "/inbox/{checkpoint}",
}

IS_DRAWN: Final = "() => document.querySelector('.sky')?.sky?.readStatistics().frames > 0"


def take_picture(page: Page, path: Path) -> None:
    """Take a picture, again if the first attempt fails, as it may where software draws in three dimensions."""
    try:
        page.screenshot(path=path)
    except Error:
        page.wait_for_timeout(1_000)
        page.screenshot(path=path)


KEYS: Final = {"cite": ("c", ""), "palette": ("Control+k", "trappist")}
"""A key to press on a page, and a text to type afterwards."""


EMPTY_PAGES: Final = {
    "empty-home": "/",
    "empty-inbox": "/inbox",
    "empty-searches": "/searches",
    "empty-workflows": "/workflows",
    "empty-runs": "/workflows?view=runs",
    "empty-schedules": "/workflows?view=schedules",
    "empty-universes": "/universes",
}
"""Pages of a new installation."""
SIGNED_OUT_PAGES: Final = {"sign-in": "/#name=Sophie+Brahe", "wrong-token": "/settings#token=wrong&name=Sophie+Brahe"}
OFFLINE: Final = "offline"
SHORTEN_PATHS: Final = """(paths) => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    for (const [path, name] of paths) texts.currentNode.data = texts.currentNode.data.replaceAll(path, name);
  }
}"""
"""Show the paths of this machine as those below a home folder."""


def open_page(page: Page, name: str, address: str) -> None:
    """Open a page and wait until it is complete."""
    if name == OFFLINE:
        page.route("**/api/events", lambda route: route.abort())
    page.goto(address)
    page.get_by_text("Reconnecting" if name == OFFLINE else "Live").first.wait_for(state="attached")
    if "/universes/" in address:
        page.wait_for_function(IS_DRAWN)
    page.get_by_text("Loading", exact=True).first.wait_for(state="hidden")
    page.wait_for_timeout(800)
    if name in KEYS:
        key, text = KEYS[name]
        page.keyboard.press(key)
        page.keyboard.type(text, delay=20)
        page.wait_for_timeout(800)


def open_signed_out_page(page: Page, name: str, address: str) -> None:
    """Open a page that asks for the sign-in."""
    page.goto(address)
    page.get_by_role("heading").first.wait_for()
    if name == "wrong-token":
        page.get_by_role("button", name="Sign in").click()
        page.get_by_text("uraniborg serve --open").wait_for()


def take_pictures(browser: Browser, station: Station, folder: Path, pages: dict[str, str]) -> None:
    """Take pictures of the pages, whose addresses are given by their names, in both themes and sizes."""
    for theme in ("light", "dark"):
        for size, (width, height) in SIZES.items():
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce"
            )
            page = context.new_page()
            signed_out = [name for name in pages if name in SIGNED_OUT_PAGES]
            for name in (*signed_out, *(one for one in pages if one not in SIGNED_OUT_PAGES)):
                if name in SIGNED_OUT_PAGES:
                    open_signed_out_page(page, name, station.url + pages[name])
                else:
                    sign_in(page, station)
                    open_page(page, name, station.url + pages[name])
                page.evaluate(SHORTEN_PATHS, [[str(station.home), "~"], [str(ROOT), "~/uraniborg"]])
                take_picture(page, folder / f"{name}-{size}-{theme}.png")
                print(f"{name}-{size}-{theme}.png")
            context.close()


def sign_in(page: Page, station: "Station") -> None:
    """Store the key of a person in the browser, unless it has one."""
    if not page.url.startswith(station.url):
        page.goto(f"{station.url}/#name=Sophie+Brahe")
    if not page.evaluate("() => localStorage.getItem('uraniborg.sign-in')"):
        data = {"token": station.token, "name": "Sophie Brahe"}
        reply = page.request.post(f"{station.url}/api/sign-in", data=data, headers={"X-Uraniborg": "1"})
        page.evaluate("(key) => localStorage.setItem('uraniborg.sign-in', key)", reply.json()["key"])


def choose_pages(pages: dict[str, str], wanted: tuple[str, ...]) -> dict[str, str]:
    """Return the pages whose name is wanted, or whose path begins with a wanted one; all if none is."""
    paths = tuple(one for one in wanted if one.startswith("/"))
    return {name: path for name, path in pages.items() if not wanted or name in wanted or path.startswith(paths)}


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images" / "console"
    wanted = tuple(sys.argv[2:])
    folder.mkdir(parents=True, exist_ok=True)
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        options = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        options += ["--no-sandbox"] if os.getuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=program, args=options)
        station = Station(Path(home))
        try:
            take_pictures(browser, station, folder, choose_pages(EMPTY_PAGES, wanted))
            values = prepare(station)
            chosen = choose_pages(SIGNED_OUT_PAGES | PAGES, wanted)
            if "story-answer" in chosen:
                run_story(station)
            filled = {name: re.sub(r"\{(\w+)\}", lambda found: values[found[1]], path) for name, path in chosen.items()}
            take_pictures(browser, station, folder, filled)
        finally:
            browser.close()
            station.stop()


if __name__ == "__main__":
    main()
