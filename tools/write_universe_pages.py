"""Writes the pages about universes that the code itself knows best; `make docs` runs it."""

from pathlib import Path

from universe.domain.catalogue import as_markdown
from universe.pages import concepts_text

DOCS = Path(__file__).resolve().parents[1] / "docs"

PAGES = {
    DOCS / "reference" / "universe-commands.md": as_markdown,
    DOCS / "concepts" / "universes.md": concepts_text,
}


def main() -> None:
    for path, text in PAGES.items():
        path.write_text(text().rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
