"""What starting `uraniborg serve` costs, and the memory that it uses idle, against a bare uvicorn and FastAPI app.

The peer answers one request on one port. `uraniborg serve` is four servers and a worker for searches; the memory of all
its processes is counted (proportional set size: shared pages are divided among their processes).
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from console_server import SERVE, make_environment
from ratios import record_ratio

PEER: Final = [
    sys.executable,
    "-c",
    """
import asyncio, uvicorn
from fastapi import FastAPI

api = FastAPI()


@api.get("/api/health")
async def get_health() -> dict[str, str]:
    return {"status": "ok"}


class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print("{}", flush=True)


Server(uvicorn.Config(api, port=0, log_level="warning")).run()
""",
]


def list_processes(process_id: int) -> list[int]:
    """Return the process and all processes that it has started."""
    children = Path(f"/proc/{process_id}/task/{process_id}/children").read_text().split()
    return [process_id, *(found for child in children for found in list_processes(int(child)))]


def read_memory(process_id: int) -> float:
    """Return the megabytes that the process and its children use."""
    lines = [
        line
        for one in list_processes(process_id)
        for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        if line.startswith("Pss:")
    ]
    return sum(int(line.split()[1]) for line in lines) / 1_024


def measure_start(command: list[str], env: dict[str, str]) -> tuple[float, float]:
    """Return the seconds until the server is ready, and its megabytes then."""
    began = time.perf_counter()
    with subprocess.Popen(command, env=env, cwd=env["HOME"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        json.loads(process.stdout.readline())
        seconds = time.perf_counter() - began
        megabytes = read_memory(process.pid)
        process.terminate()
    return seconds, megabytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one start each")
    rounds = 1 if parser.parse_args().quick else 7
    with tempfile.TemporaryDirectory() as folder:
        env = make_environment(Path(folder))
        measure_start(SERVE, env)  # writes the sample shelf
        pairs = [(measure_start(PEER, env), measure_start(SERVE, env)) for _ in range(rounds)]
    theirs, ours = ([one[index] for one in pairs] for index in (0, 1))
    for name, index, unit in (("ready after", 0, "s"), ("idle memory", 1, "MB")):
        peer, us = (statistics.median(one[index] for one in found) for found in (theirs, ours))
        record_ratio(f"{name} to a bare FastAPI app", us / peer)
        print(f"{name:<12} {us:7.2f} {unit}  bare FastAPI app {peer:7.2f} {unit}  ratio {us / peer:.2f}")


if __name__ == "__main__":
    main()
