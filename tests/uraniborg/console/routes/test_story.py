"""The story through the API of `uraniborg serve`."""

import shutil
import time
from collections.abc import Generator
from typing import Any

import httpx
import pytest

from tests.shared_folders import PATIENCE_S, make_once
from tests.uraniborg.console.processes import run_server
from tests.uraniborg.demo_runs import Demo, make_demo, read_demo

pytestmark = pytest.mark.timeout(3 * PATIENCE_S)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return read_demo(make_once(tmp_path_factory, "demo", make_demo))


@pytest.fixture(scope="module")
def client(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Generator[httpx.Client]:
    """Yield a client of a server in whose data folder a story is complete."""
    home = tmp_path_factory.mktemp("story-server")
    shutil.copytree(demo.story_home, home / "uraniborg" / "data" / "demo")
    with run_server(home) as server, server.make_client() as client:
        yield client


def run_step(client: httpx.Client, step: str) -> dict[str, Any]:
    """Run a step to its end, which a busy machine may reach after the reply, and return the state."""
    state = client.post(f"/api/story/steps/{step}", json={}).raise_for_status().json()
    deadline = time.monotonic() + PATIENCE_S
    while state["running"] is not None:
        assert time.monotonic() < deadline
        time.sleep(0.2)
        state = client.get("/api/story").raise_for_status().json()
    return state


def test_the_state_has_every_step_with_its_sentence_and_a_step_has_its_result(client: httpx.Client) -> None:
    state = client.get("/api/story").raise_for_status().json()
    assert (state["next"], state["running"], state["is_complete"], state["error"]) == (None, None, True, None)
    assert all(step["sentence"] for step in state["steps"])
    assert all("result" not in step for step in state["steps"])
    step = client.get("/api/story/steps/compare").raise_for_status().json()
    assert len(step["result"]["angles"][0]["angles"]) == 5


def test_pictures_and_the_bundle_are_served_and_nothing_else_of_the_folder(client: httpx.Client) -> None:
    (picture,) = client.get("/api/story/steps/compare").json()["pictures"]
    answer = client.get(f"/api/story/files/{picture}").raise_for_status()
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.content.startswith(b"<svg")
    assert client.get("/api/story/files/bundle.zip").raise_for_status().content.startswith(b"PK")
    for path in ("state.json", "plots/none.svg", "..%2finbox.db", "shelf/library.db"):
        assert client.get(f"/api/story/files/{path}").status_code in (403, 404)


def test_errors_of_steps_have_the_code_and_the_status_of_the_terminal(client: httpx.Client) -> None:
    missing = client.post("/api/story/steps/dance", json={})
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "step_not_found")
    done = client.post("/api/story/steps/ask", json={})
    assert (done.status_code, done.json()["error"]["code"]) == (409, "step_done")
    invalid = client.post("/api/story/steps/branch", json={"inputs": {"factor": "many"}})
    assert (invalid.status_code, invalid.json()["error"]["argument"]) == (422, "factor")
    assert client.get("/api/story").json()["error"]["step"] == "branch"


def test_a_step_runs_with_the_name_of_the_person_and_a_story_can_start_over(client: httpx.Client) -> None:
    state = run_step(client, "scrub")
    steps = {step["id"]: step for step in state["steps"]}
    assert (steps["scrub"]["by"], steps["export"]["status"], state["error"]) == ("Tycho", "next", None)
    fresh = client.post("/api/story/restart").raise_for_status().json()
    assert (fresh["next"], fresh["steps"][0]["status"]) == ("ask", "next")
    asked = run_step(client, "ask")
    assert asked["next"] == "approve"
    assert asked["steps"][0]["facts"][0]["label"] == "query 1"
