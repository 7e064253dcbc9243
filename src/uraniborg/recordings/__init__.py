"""The search that ships with the package, recorded: for the demo, for the documents, for trying things offline."""

from pathlib import Path
from typing import Final

QUERY: Final = "atmospheres of the TRAPPIST-1 planets since 2016"
RECORDING: Final = Path(__file__).parent / "trappist-1"
