"""Replacing the text of a workflow that somebody else may have changed."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pflow.config import load_settings
from pflow.errors import WorkflowChanged
from pflow.service.operations import Service
from pflow.store.workflow_file import compute_revision


def make_document(message: str) -> dict[str, Any]:
    return {"nodes": [{"id": "say", "type": "echo", "params": {"message": message}}]}


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path))
    return Service(load_settings())


def test_of_many_who_replace_the_same_revision_one_succeeds(service: Service) -> None:
    first = make_document("first")
    service.texts.write_draft("shared", first)
    revision = compute_revision(first)

    def replace_text(number: int) -> int | None:
        try:
            service.texts.write_draft("shared", make_document(str(number)), revision)
        except WorkflowChanged:
            return None
        return number

    with ThreadPoolExecutor(8) as threads:
        written = [number for number in threads.map(replace_text, range(8)) if number is not None]
    assert len(written) == 1
    assert service.texts.read_draft("shared") == make_document(str(written[0]))
