"""The lines that `uraniborg serve` prints to copy."""

import sys
from pathlib import Path

import pytest

from uraniborg.serve import print_addresses
from uraniborg.served_parts import ServedPart


def test_the_line_that_connects_pflow_has_a_whole_path_and_is_left_out_if_pflow_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    parts = [ServedPart("api", "the console", 8000, None)]
    print_addresses(parts, "token", "http://127.0.0.1:8000/#token=token", as_json=False)
    without = capsys.readouterr().err
    assert "claude mcp add --transport http api http://127.0.0.1:8000/mcp\n" in without
    assert "claude mcp add pflow" not in without
    (tmp_path / "pflow").write_text("#!/bin/sh\n")
    (tmp_path / "pflow").chmod(0o755)
    print_addresses(parts, "token", "http://127.0.0.1:8000/#token=token", as_json=False)
    assert f"claude mcp add pflow -- {tmp_path}/pflow mcp serve\n" in capsys.readouterr().err
