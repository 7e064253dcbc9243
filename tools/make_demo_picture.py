"""Draw the picture of the README, which displays the search of `uraniborg demo`.

python tools/make_demo_picture.py
"""

import contextlib
import re
import tempfile
from io import StringIO
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.segment import Segment, Segments
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from uraniborg.demo import run_demo

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "demo.svg"
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
FIRST, PAPERS_END, LAST = "You ask", "  4  ", "  … and "


def main() -> None:
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True, highlight=False)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        run_demo(Path("demo-output"), as_json=False, console=console)
    PICTURE.write_text(draw_picture(choose_lines(record_lines(console))), encoding="utf-8")


def record_lines(console: Console) -> list[list[Segment]]:
    """Return the recorded output as lines of styled text."""
    text = Text.from_ansi(console.export_text(styles=True))
    plain = Console(width=COLUMNS, color_system="truecolor", file=StringIO())
    return plain.render_lines(text, plain.options.update(width=COLUMNS), pad=False)


def choose_lines(lines: list[list[Segment]]) -> list[list[Segment]]:
    """Return the lines from the question to the decision about the papers, with the first three papers."""
    texts = ["".join(segment.text for segment in line) for line in lines]
    first = next(number for number, text in enumerate(texts) if text.startswith(FIRST))
    fourth = next(number for number, text in enumerate(texts) if PAPERS_END in text[:8])
    last = next(number for number, text in enumerate(texts) if LAST in text)
    more = int(re.findall(r"\d+", texts[last])[0]) + 7
    rest = Text(f"│   … and {more} more".ljust(COLUMNS - 1) + "│")
    rest.stylize("cyan", 0, 1)
    rest.stylize("dim", 1, COLUMNS - 1)
    rest.stylize("cyan", COLUMNS - 1)
    plain = Console(width=COLUMNS, color_system="truecolor", file=StringIO())
    (replaced,) = plain.render_lines(rest, plain.options.update(width=COLUMNS), pad=False)
    return [*lines[first:fourth], replaced, *lines[last + 1 : last + 3]]


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
