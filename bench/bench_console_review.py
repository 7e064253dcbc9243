"""Key presses of a review of 2,000 papers in a browser, against one of 20 papers, and lists of the API.

python bench/bench_console_review.py [--quick]

The limit of a key press is 16 ms of script, the time of one frame. A list of the API may take 50 ms. The program fails
if a median is above its limit; `--quick` only shows that everything runs.
"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

import httpx
from console_server import QUERY, ConsoleServer, install_sources, make_environment, run_console_server
from playwright.sync_api import Browser, sync_playwright
from ratios import record_ratio

PAPERS: Final = 2_000
FEW: Final = 20
KEYS: Final = ("j", "i", "Enter", "x", "2", "Enter", "k", "j")
FRAME_MS: Final = 16.0
LIST_MS: Final = 50.0
SETTLED: Final = (
    "() => new Promise((done) => requestAnimationFrame(() => requestIdleCallback(() => done(), {timeout: 200})))"
)


def make_review(client: httpx.Client, papers: int) -> str:
    """Search in as many rounds as the papers need, at most 1,000 in each, and return the id of the session.

    End the program if the review does not have exactly these papers.
    """
    body = {"query": QUERY, "max_results": min(papers, 1_000)}
    state = client.post("/api/searches", json=body).raise_for_status().json()
    path = f"/api/searches/{state['session_id']}/decide"
    for _ in range(-(-papers // 1_000)):
        if state.get("checkpoint_kind") == "result_review":
            state = client.post(path, json={"action": "reject", "note": "more"}).raise_for_status().json()
        state = client.post(path, json={"action": "approve"}).raise_for_status().json()
        while state.get("checkpoint_kind") != "result_review":
            time.sleep(0.5)
            state = client.get(f"/api/searches/{state['session_id']}").raise_for_status().json()
    found = client.get(f"/api/searches/{state['session_id']}/papers").raise_for_status().json()["total"]
    if found != papers:
        raise SystemExit(f"The review must have {papers:,} papers, got {found:,}.")
    return state["session_id"]


def time_lists(client: httpx.Client, session_id: str, repeats: int) -> list[float]:
    """Return the times of pages of the list, filtered and sorted in several ways, in milliseconds."""
    ways: list[dict[str, Any]] = [{}, {"sort": "title"}, {"status": "undecided", "offset": 500}, {"q": "ocean vent"}]
    times: list[float] = []
    for number in range(repeats):
        started = time.perf_counter()
        client.get(f"/api/searches/{session_id}/papers", params=ways[number % len(ways)]).raise_for_status()
        times.append((time.perf_counter() - started) * 1_000)
    return times


def time_keys(browser: Browser, server: ConsoleServer, session_id: str, papers: int, rounds: int) -> list[float]:
    """Return the time of script of each key press in a list of all papers in milliseconds, until the page is idle."""
    storage = server.make_storage()
    context = browser.new_context(viewport={"width": 1440, "height": 900}, storage_state=storage)
    page = context.new_page()
    page.goto(f"{server.url}/searches/{session_id}/review")
    page.wait_for_selector(f".virtual-list [aria-setsize='{papers}'] a")  # the list is loaded in parts
    session: Any = context.new_cdp_session(page)
    session.send("Performance.enable")

    def read_script_ms() -> float:
        metrics: list[dict[str, Any]] = session.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "ScriptDuration") * 1_000

    times: list[float] = []
    for _ in range(rounds):
        for key in KEYS:
            before = read_script_ms()
            page.keyboard.press(key)
            page.evaluate(SETTLED)
            times.append(read_script_ms() - before)
    context.close()
    return times


def print_times(name: str, times: list[float], limit_ms: float) -> str:
    """Print the median and the 95th percentile; return an error text if the median is above the limit, or ""."""
    p95 = quantiles(times, n=20)[-1]
    print(f"  {name:24s} {median(times):7.2f} ms, p95 {p95:.1f} ms  (limit {limit_ms:.0f} ms)")
    return f"{name}: {median(times):.1f} ms is above {limit_ms:.0f} ms" if median(times) > limit_ms else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="200 papers, few keys, no limits")
    quick = parser.parse_args().quick
    papers, rounds = (200, 5) if quick else (PAPERS, 25)
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("There is no Chromium here: run tools/chromium.")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(folder)
        env = make_environment(home, **install_sources(home / "site", papers + 200))
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        with run_console_server(env) as server, server.make_client() as client:
            large, small = make_review(client, papers), make_review(client, FEW)
            lists = time_lists(client, large, rounds * 4)
            many = time_keys(browser, server, large, papers, rounds)
            few = time_keys(browser, server, small, FEW, rounds)
        browser.close()
    print(f"review of {papers:,} papers")
    problems = [
        print_times("list of 50 papers", lists, LIST_MS),
        print_times("script per key press", many, FRAME_MS),
    ]
    ratio = median(many) / median(few)
    print(f"  the same with {FEW} papers     {median(few):6.2f} ms")
    print(f"  {papers:,} papers to {FEW}: {ratio:.2f}")
    if not quick:
        record_ratio(f"script per key press, {papers:,} papers to {FEW}", ratio)
        if found := "; ".join(filter(None, problems)):
            raise SystemExit(found)


if __name__ == "__main__":
    main()
