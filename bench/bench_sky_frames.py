"""Script time of a frame and memory of the page of a universe, for 300 and 100,000 bodies.

python bench/bench_sky_frames.py [--quick]

The shaders compute the positions, so the script time of a frame must not grow with the bodies. The number of frames
depends on the graphics hardware, and without any on the processor; it says nothing about the console. The picture is
small, because its size costs the graphics hardware only. The limit of the JavaScript heap is 200 MB. All bodies arrive
as one binary: no other reply may be larger than a megabyte. A command of another client must be in the picture of
TRAPPIST-1 within 200 ms.
"""

import argparse
import csv
import io
import math
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

from console_server import ConsoleServer, make_environment, run_console_server
from playwright.sync_api import Browser, ViewportSize, sync_playwright
from ratios import record_ratio

SIZES: Final = (300, 100_000)
QUICK_SIZES: Final = (300, 10_000)
VIEWPORT: Final[ViewportSize] = {"width": 800, "height": 400}
LARGEST_REPLY: Final = 1_000_000
HEAP_MB: Final = 200.0
FRAMES: Final = 40
SECONDS: Final = 15.0
COMMANDS: Final = 10
LIVE_MS: Final = 200.0
PLANETS: Final = ((0.387, 0.206), (0.723, 0.007), (1.0, 0.017), (1.524, 0.093), (5.203, 0.048), (9.537, 0.054))
COLUMNS: Final = (
    "name",
    "parent",
    "mass_solar",
    "radius_km",
    "semi_major_axis_au",
    "eccentricity",
    "inclination_deg",
    "node_deg",
    "omega_deg",
    "mean_anomaly_deg",
)
READ: Final = "() => document.querySelector('.sky')?.sky?.readStatistics()"
SHOW_TIME: Final = """(version) => new Promise((done) => {
  const { sky } = document.querySelector('.sky');
  const look = () => (sky.readStatistics().version >= version ? done(Date.now()) : setTimeout(look, 1));
  look();
})"""
PLAY: Final = "() => { document.querySelector('.sky').sky.state.isPlaying.value = true; }"


def make_table(bodies: int) -> str:
    """Return a star with planets and a belt, `bodies` in all, as CSV."""
    dice = random.Random(1)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    writer.writerow(["Sun", "", 1, 700_000, "", "", "", "", "", ""])
    for number in range(bodies - 1):
        planet = PLANETS[number] if number < len(PLANETS) else None
        size, e = planet or (dice.gauss(2.75, 0.35), min(abs(dice.gauss(0, 0.12)), 0.6))
        tilt = abs(dice.gauss(0, 8))
        angles = [round(dice.random() * 360, 3) for _ in range(3)]
        name = f"Planet {number}" if planet else f"Asteroid {number}"
        writer.writerow([name, "Sun", 0, 5_000 if planet else 1, round(size, 5), round(e, 5), round(tilt, 3), *angles])
    return text.getvalue()


def import_universes(folder: Path, env: dict[str, str], sizes: tuple[int, ...]) -> None:
    for size in sizes:
        file = folder / f"belt-{size}.csv"
        file.write_text(make_table(size), encoding="utf-8")
        command = [sys.executable, "-m", "universe", "import", str(file), "--id", f"belt-{size}"]
        subprocess.run(command, env=env, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def measure(browser: Browser, server: ConsoleServer, size: int) -> dict[str, float]:
    """Return the milliseconds of script of a frame, frames in a second, the heap in MB, and seconds to the start."""
    context = browser.new_context(viewport=VIEWPORT, storage_state=server.make_storage())
    page = context.new_page()
    page.set_default_timeout(120_000)
    replies: dict[str, int] = {}
    page.on("response", lambda reply: replies.update({reply.url: int(reply.headers.get("content-length", 0))}))
    started = time.perf_counter()
    page.goto(f"{server.url}/universes/belt-{size}?t=0")
    page.wait_for_function("() => document.querySelector('.sky')?.sky?.readStatistics().frames > 0")
    opened = time.perf_counter() - started
    page.evaluate(PLAY)
    first = page.evaluate(READ)["frames"]
    started = time.perf_counter()
    statistics = page.evaluate(READ)
    while statistics["frames"] < first + FRAMES and time.perf_counter() - started < SECONDS:
        page.wait_for_timeout(500)
        statistics = page.evaluate(READ)
    seconds = time.perf_counter() - started
    times = sorted(value for value in statistics["scriptTimes"] if value is not None)
    session: Any = context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    assert statistics["bodies"] == size
    elements = next(count for url, count in replies.items() if "/elements" in url)
    large = [url for url, count in replies.items() if count > LARGEST_REPLY and "/elements" not in url]
    assert not large, large
    context.close()
    return {
        "script": median(times),
        "p75": quantiles(times, n=4)[-1],
        "frames": (statistics["frames"] - first) / seconds,
        "heap": metrics["JSHeapUsedSize"] / 1e6,
        "opened": opened,
        "binary": elements / 1e6,
    }


def time_commands(browser: Browser, server: ConsoleServer) -> list[float]:
    """Return the milliseconds from sending a command until the page of the universe shows its version."""
    context = browser.new_context(viewport=VIEWPORT, reduced_motion="reduce", storage_state=server.make_storage())
    page = context.new_page()
    times: list[float] = []
    with server.make_client() as client:
        made = client.post("/api/universes", json={"from": "trappist-1", "name": "T"}).raise_for_status().json()
        page.goto(f"{server.url}/universes/{made['id']}")
        page.wait_for_function("() => document.querySelector('.sky')?.sky?.readStatistics().frames > 0")
        for number in range(COMMANDS):
            sent: list[float] = []

            def send(number: int = number, sent: list[float] = sent) -> None:
                sent.append(time.time() * 1_000)
                command = {"type": "updateStar", "id": "trappist-1-h", "payload": {"mass": 1e-6 * (number + 1)}}
                client.post(f"/api/universes/{made['id']}/commands?return=events", json=command).raise_for_status()

            timer = threading.Timer(0.2, send)
            timer.start()
            shown: float = page.evaluate(SHOW_TIME, page.evaluate(READ)["version"] + 1)
            timer.join()
            times.append(shown - sent[0])
    context.close()
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="300 and 10,000 bodies")
    sizes = QUICK_SIZES if parser.parse_args().quick else SIZES
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("There is no Chromium here: run tools/chromium.")
    options = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        env = make_environment(Path(folder))
        import_universes(Path(folder), env, sizes)
        browser = playwright.chromium.launch(executable_path=program, args=options)
        with run_console_server(env) as server:
            found = {size: measure(browser, server, size) for size in sizes}
            live = time_commands(browser, server)
        browser.close()
    print("bodies    script per frame ms (p75)   frames/s here   heap MB   binary MB   first frame s")
    for size, one in found.items():
        script = f"{one['script']:.2f} ({one['p75']:.2f})"
        row = f"{one['frames']:13.1f}   {one['heap']:7.1f}   {one['binary']:9.1f}   {one['opened']:13.1f}"
        print(f"{size:7,d}   {script:>25s}   {row}")
    ratio = found[sizes[-1]]["script"] / found[sizes[0]]["script"]
    print(f"script of a frame, {sizes[-1]:,} bodies to {sizes[0]}: {ratio:.2f}")
    record_ratio(f"script of a frame, {sizes[-1]:,} bodies to {sizes[0]}", ratio)
    slowest = quantiles(live, n=10)[-1]
    print(f"command to picture: {median(live):.0f} ms, p90 {slowest:.0f} ms  (limit {LIVE_MS:.0f} ms)")
    if max(one["heap"] for one in found.values()) > HEAP_MB or not math.isfinite(ratio):
        raise SystemExit(f"The heap is larger than {HEAP_MB:.0f} MB.")


if __name__ == "__main__":
    main()
