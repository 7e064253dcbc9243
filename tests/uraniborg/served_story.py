"""A program that serves the story, runs all of its steps over HTTP and saves its bundle; it needs no test library.

python served_story.py URANIBORG HOME BUNDLE YEARS
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

_PATIENCE_S = 600.0


def main() -> None:
    """Run the story of an empty home."""
    uraniborg, home, bundle, years = sys.argv[1:]
    (Path(home) / "data" / "story").mkdir(parents=True)
    free = ("URANIBORG_CONSOLE__SEARCH_PORT", "URANIBORG_LIBRARY__PORT", "URANIBORG_UNIVERSE__PORT")
    env = {**os.environ, "URANIBORG_HOME": home, "URANIBORG_PAPER_SEARCH__OFFLINE": "1", **dict.fromkeys(free, "0")}
    command = [uraniborg, "serve", "--json", "--port", "0"]
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        served: dict[str, Any] = json.loads(process.stdout.readline())
        page = request(served, "/story").decode()
        assert "<!doctype html>" in page.lower(), page[:200]
        run_steps(served, float(years))
        Path(bundle).write_bytes(request(served, "/api/story/files/bundle.zip"))
    finally:
        process.terminate()
        process.wait(30)


def request(served: dict[str, Any], path: str, body: Any = None) -> bytes:
    """Return the answer to a request; with a body it is a POST."""
    headers = {"Authorization": f"Bearer {served['token']}", "X-Uraniborg": "1", "Content-Type": "application/json"}
    content = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"{served['url']}{path}", content, headers), timeout=60) as answer:
        return answer.read()


def run_steps(served: dict[str, Any], years: float) -> None:
    """Run each step, and wait for its end."""
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        state: dict[str, Any] = json.loads(request(served, "/api/story"))
        if state["is_complete"]:
            return
        if state["running"]:
            time.sleep(0.5)
            continue
        inputs = {"years": years} if state["next"] == "integrate" else {}
        request(served, f"/api/story/steps/{state['next']}", {"inputs": inputs})
    raise TimeoutError("the story did not end in time")


if __name__ == "__main__":
    main()
