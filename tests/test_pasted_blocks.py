"""Every block of the README and of the guides for the first steps runs as pasted, in an empty home, without a network.

Stand-ins take the place of programs that are not part of the project: pipx, uv, make, and the clients of agents. They
accept any arguments. Every other command is the real one; it asks at a terminal and gets the answer yes.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pasted_blocks import make_pasting_environment, paste
from tests.shared_folders import PATIENCE_S

ROOT = Path(__file__).resolve().parents[1]
PAGES = ["README.md", "docs/guides/install.md", "docs/guides/connect-an-agent.md"]
STAND_INS = ("pipx", "uv", "make", "claude", "codex", "gemini")
FAILING = {"mass=42": 5}
"""A part of each block that fails on purpose, as the text beside it says, and its exit code."""
INTERRUPTED = 130
BLOCK = re.compile(r"^```(sh|console|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def read_blocks(page: str) -> list[tuple[str, str]]:
    """Return the language and text of each block; the prompts of a console are left out."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [(language, re.sub(r"^\$ ", "", block, flags=re.MULTILINE)) for language, block in BLOCK.findall(text)]


@pytest.mark.timeout(6 * PATIENCE_S)
@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_the_page_runs_as_pasted(page: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("p")  # the path of a unix socket has at most 107 bytes
    env = make_pasting_environment(folder, STAND_INS)
    if "SHA256SUMS" in (ROOT / page).read_text(encoding="utf-8"):
        program = [sys.executable, str(ROOT / "tools" / "make_release.py"), str(folder / "dist")]
        subprocess.run(program, check=True, timeout=PATIENCE_S)
    for language, block in read_blocks(page):
        if language == "python":
            if "async with" not in block:  # examples for async code are run by tests/test_docs.py
                subprocess.run([sys.executable, "-c", block], cwd=folder, env=env, check=True, timeout=PATIENCE_S)
            continue
        code, output = paste(block, folder, env)
        expected = next((failing for part, failing in FAILING.items() if part in block), 0)
        allowed = {expected, INTERRUPTED} if "Press Ctrl-C" in output else {expected}
        assert code in allowed, f"{block}\n{output}"


@pytest.mark.parametrize("page", PAGES)
def test_no_block_has_a_comment_or_a_prompt_that_zsh_would_run(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for language, block in BLOCK.findall(text):
        if language == "sh":
            assert not re.search(r"(^\$ |\s#\s)", block, re.MULTILINE), block


def test_the_picture_of_the_readme_has_letters_of_at_least_12_pixels_at_the_width_of_a_page() -> None:
    picture = (ROOT / "docs" / "images" / "demo.svg").read_text(encoding="utf-8")
    width = re.search(r'viewBox="0 0 (\d+)', picture)
    letters = re.search(r"\.demo-matrix \{[^}]*font-size: (\d+)px", picture)
    assert width
    assert letters
    assert int(letters[1]) * 830 / int(width[1]) >= 12
    assert "http" not in re.sub(r"https?://(www\.w3\.org|www\.textualize\.io)", "", picture)
