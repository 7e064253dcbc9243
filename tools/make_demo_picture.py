"""Draw the picture of the README, which displays the output of `uraniborg demo`.

python tools/make_demo_picture.py
"""

import contextlib
import re
import tempfile
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme

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


def main() -> None:
    console = Console(record=True, width=104, file=StringIO(), force_terminal=True, highlight=False)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        run_demo(Path("demo-output"), as_json=False, console=console)
    picture = console.export_svg(title="uraniborg demo", theme=NIGHT, unique_id="demo")
    # The picture must show without a network, so it takes the reader's own monospace font.
    picture = re.sub(r"@font-face\s*\{.*?\}\s*", "", picture, flags=re.DOTALL)
    PICTURE.write_text(picture.replace("Fira Code", "ui-monospace, Menlo, DejaVu Sans Mono"), encoding="utf-8")


if __name__ == "__main__":
    main()
