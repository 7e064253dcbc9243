"""Genuine bundles of every kind of work, small enough to verify many times."""

import asyncio
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from tests.uraniborg.demo_runs import Demo
from uraniborg.bundle.export import ExportSelection, collect_files
from uraniborg.bundle.pieces import Chosen
from uraniborg.bundle.writer import write_bundle
from uraniborg.kernel.actors import Actor
from uraniborg.part_services import open_jobs
from uraniborg.story.folder import StoryFolder

JOBS: Final[dict[str, dict[str, Any]]] = {
    "nbody": {"kind": "nbody", "days": 8, "bodies": ["trappist-1", "trappist-1-b", "trappist-1-c"]},
    "transits": {"kind": "transits", "days": 8, "bodies": ["trappist-1-b"]},
    "rv": {"kind": "rv", "days": 8, "samples": 10},
}


def make_bundles(demo: Demo, folder: Path) -> None:
    """Export the work of the demo into folders named after their kinds, with measurements of a few days."""
    home = folder / "home"
    shutil.copytree(demo.story_home, home)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("URANIBORG_HOME", str(home))
        patched.setenv("URANIBORG_USER", "Ada")
        patched.delenv("PFLOW_HOME", raising=False)
        asyncio.run(_export_all(home, folder))
    shutil.copytree(demo.folder / "demo-output", folder / "story")


async def _export_all(home: Path, folder: Path) -> None:
    results = StoryFolder(home).read_results()
    base = Chosen(results["build"]["universe_id"], "trappist-1")
    runs = [
        Chosen(results[step]["run"]["run_id"], f"masses-{how}")
        for step, how in (("read", "stopped"), ("give", "resumed"))
    ]
    chosen = {
        "papers": ExportSelection(
            searches=[Chosen(results["ask"]["session_id"], "chain")], shelves=[Chosen("trappist-1", "chain")]
        ),
        "runs": ExportSelection(runs=runs),
        "universe": ExportSelection(universes=[base, Chosen(results["branch"]["universe_id"], "h-times-2")]),
        "measurements": ExportSelection(universes=[base], jobs=await _measure(base.id)),
    }
    for kind, selection in chosen.items():
        files = await collect_files(selection, title=f"A bundle with {kind}.", folder=home)
        await asyncio.to_thread(write_bundle, folder / kind, files)


async def _measure(universe_id: str) -> list[Chosen]:
    """Measure the universe and return the jobs."""
    async with open_jobs() as service:
        actor = Actor(kind="person", name="Ada", authenticated="account")
        jobs = {name: await service.create(universe_id, options, actor=actor) for name, options in JOBS.items()}
        ended = {name: await service.wait(universe_id, job.id) for name, job in jobs.items()}
    assert all(job.state == "done" for job in ended.values()), [job.error for job in ended.values()]
    return [Chosen(job.id, name) for name, job in ended.items()]
