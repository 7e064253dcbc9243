"""Give agents the guide to writing workflows."""

from importlib.resources import files
from pathlib import Path
from typing import Final

_DEFAULT_HOME: Final = "~/.pflow"


def read_guide(home: Path | None = None) -> str:
    """Return the guide, with the path of the pflow home if it is not the default."""
    text = files("pflow").joinpath("guide.md").read_text(encoding="utf-8")
    is_default = home is None or home.absolute() == Path(_DEFAULT_HOME).expanduser().absolute()
    return text if is_default else text.replace(_DEFAULT_HOME, str(home))
