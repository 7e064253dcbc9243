"""The search that ships with the package: for the demo, for the documents, for trying things offline.

Its papers and their bibliographic facts are real. The answers that name them were written for this purpose, in the
shape each source uses, and so were the short texts that stand for abstracts.
"""

from pathlib import Path
from typing import Final

QUERY: Final = "atmospheres of the TRAPPIST-1 planets since 2016"
RECORDING: Final = Path(__file__).parent / "trappist-1"
