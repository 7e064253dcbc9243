"""The guide that agents read: how workflows are written."""

from importlib.resources import files
from pathlib import Path
from typing import Final

_USUAL: Final = "~/.pflow"


def guide_text(home: Path | None = None) -> str:
    """The guide; where the pflow home is another than the usual one, it says so."""
    text = files("pflow").joinpath("guide.md").read_text(encoding="utf-8")
    is_usual = home is None or home.absolute() == Path(_USUAL).expanduser().absolute()
    return text if is_usual else text.replace(_USUAL, str(home))
