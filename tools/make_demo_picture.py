"""Draw the pictures of the README and of the page of the story, from a run of `uraniborg demo`.

python tools/make_demo_picture.py
"""

import contextlib
import os
import re
import tempfile
from io import StringIO
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.segment import Segment, Segments
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from uraniborg.kernel.terminal.page import Page
from uraniborg.story.service import Story
from uraniborg.story.terminal import run_story

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
PICTURE = IMAGES / "demo.svg"
PLOTS: Final = {factor: IMAGES / f"laplace-angles-h-times-{factor}.svg" for factor in (2, 50)}
NIGHT = TerminalTheme(
    (13, 17, 23),
    (201, 209, 217),
    [
        (48, 54, 61),
        (248, 81, 73),
        (63, 185, 80),
        (210, 153, 34),
        (88, 166, 255),
        (188, 140, 255),
        (57, 197, 207),
        (177, 186, 196),
    ],
)


COLUMNS: Final = 88
"""At the width of a README, about 830 pixels, a letter is then 15 pixels high."""
STEPS: Final = {"1", "2", "5", "6", "8", "10", "11"}
"""The numbers of the steps in the picture."""


class Terminal(StringIO):
    """A stream that has colours."""

    def isatty(self) -> bool:
        return True


def main() -> None:
    os.environ |= {"COLUMNS": str(COLUMNS), "TERM": "xterm", "NO_COLOR": ""}
    shown = Terminal()
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        story = Story(Path(name) / "home")
        run_story(story, Path("demo-output"), is_script=True, as_json=False, page=Page(shown))
        for factor, picture in PLOTS.items():
            plot = story.folder.plots / f"laplace-angles-h-times-{factor}.svg"
            picture.write_bytes(plot.read_bytes())
    PICTURE.write_text(draw_picture(choose_lines(split_lines(shown.getvalue()))), encoding="utf-8")


def split_lines(text: str) -> list[list[Segment]]:
    """Return the output as lines of styled text."""
    plain = Console(width=COLUMNS, color_system="truecolor", file=StringIO())
    return plain.render_lines(Text.from_ansi(text), plain.options.update(width=COLUMNS), pad=False)


def choose_lines(lines: list[list[Segment]]) -> list[list[Segment]]:
    """Return the question, the headings and sentences of some steps, and the angles of the comparison."""
    chosen: list[list[Segment]] = []
    is_wanted = False
    for line in lines:
        text = "".join(segment.text for segment in line).rstrip()
        if text.startswith("You ask"):
            chosen += [line, []]
        elif heading := re.match(r"\d+/\d+ ", text):
            is_wanted = heading[0].partition("/")[0] in STEPS
            if is_wanted:
                chosen.append(line)
        elif text.startswith("Written"):
            break
        elif is_wanted and (not text or re.match(r"  \S", text) or re.match(r"    \w-\w-\w ", text)):
            chosen.append(line)
    return chosen


def draw_picture(lines: list[list[Segment]]) -> str:
    """Return an SVG of the lines that is readable on light and dark pages."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Segments([segment for line in lines for segment in (*line, Segment.line())]), end="")
    picture = console.export_svg(title="uraniborg demo", theme=NIGHT, unique_id="demo")
    # The picture must show without a network, so it takes the reader's own monospace font.
    picture = re.sub(r"@font-face\s*\{.*?\}\s*", "", picture, flags=re.DOTALL)
    return picture.replace("Fira Code", "ui-monospace, Menlo, DejaVu Sans Mono")


if __name__ == "__main__":
    main()
