"""The process from which the tests fork programs."""

import os
import socket
from pathlib import Path

from tests.forked_processes import template


def test_a_command_that_is_killed_before_it_has_asked_does_not_end_the_template(tmp_path: Path) -> None:
    template_process = template("tests.test_forked_processes:main")
    address = template_process.command()[-1]
    for sent in (b"", b"\0\0", (100).to_bytes(4, "big"), (100).to_bytes(4, "big") + b"{"):
        with socket.socket(socket.AF_UNIX) as killed:
            killed.connect(address)
            killed.sendall(sent)
        for _ in range(2):  # the first request may be answered before the killed command is noticed
            done = template_process.run(env={"PATH": os.environ["PATH"]}, cwd=tmp_path)
            assert (done.returncode, done.stdout) == (0, "forked\n")


def main() -> None:
    print("forked")
