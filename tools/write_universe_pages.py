"""Write the pages about universes that are generated from the code; `make docs` runs it."""

from pathlib import Path

from universe.api.html_pages import read_concepts_markdown
from universe.domain.command_catalogue import render_markdown_reference

DOCS = Path(__file__).resolve().parents[1] / "docs"

PAGES = {
    DOCS / "reference" / "universe-commands.md": render_markdown_reference,
    DOCS / "concepts" / "universes.md": read_concepts_markdown,
}


def main() -> None:
    for path, text in PAGES.items():
        path.write_text(text().rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
