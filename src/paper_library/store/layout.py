"""What lies where in a shelf's folder, and what its tables hold. Builders write it, readers read it."""

from typing import Final

SCHEMA_VERSION: Final = 2
READABLE_SINCE: Final = 1
"""The first schema that is read. Schema 1 has no `entry` table, no flags in its index, and fewer fields in replies."""
DATABASE: Final = "shelf.db"
INDEX: Final = "index"
STATIC: Final = "static"
MANIFEST: Final = "manifest.json"

FACET_KINDS: Final = ("author", "venue", "keyword", "institution", "tag", "year")
SOURCE: Final = "source"
SUMMARY: Final = "summary"
TRANSLATION: Final = "translation"

TABLES: Final = """
CREATE TABLE paper (
    no INTEGER PRIMARY KEY,      -- place on the shelf, which is ordered by title
    paper_id TEXT NOT NULL UNIQUE,
    title_fold TEXT NOT NULL,
    year INTEGER,
    metadata BLOB NOT NULL,      -- the whole reply about this paper, as JSON
    bibtex TEXT NOT NULL,
    keys TEXT NOT NULL,          -- JSON list of what it is known by, strongest first
    origins TEXT NOT NULL,       -- JSON list of the inputs it came from
    digest TEXT NOT NULL         -- changes with anything said of the paper
);
CREATE TABLE alias (key TEXT PRIMARY KEY, no INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE facet (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, fold TEXT NOT NULL, value TEXT NOT NULL, paper_count INTEGER NOT NULL
);
CREATE TABLE paper_facet (facet INTEGER NOT NULL, no INTEGER NOT NULL, PRIMARY KEY (facet, no)) WITHOUT ROWID;
CREATE TABLE asset (
    no INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    sha256 TEXT NOT NULL, bytes INTEGER NOT NULL, chars INTEGER NOT NULL,
    is_added INTEGER NOT NULL,   -- it came from a folder of summaries, and not with an entry
    PRIMARY KEY (no, kind, name)
) WITHOUT ROWID;
CREATE TABLE entry (             -- what each of several inputs said of a paper, as JSON; see build/entry_rows.py
    no INTEGER NOT NULL, place INTEGER NOT NULL, entry BLOB NOT NULL, PRIMARY KEY (no, place)
) WITHOUT ROWID;
CREATE TABLE missing (what TEXT PRIMARY KEY, papers INTEGER NOT NULL) WITHOUT ROWID;
"""

INDEXES: Final = """
CREATE INDEX paper_title ON paper (title_fold);
CREATE UNIQUE INDEX facet_value ON facet (kind, fold);
CREATE INDEX facet_top ON facet (kind, paper_count DESC, value);
"""


def asset_path(kind: str, sha256: str) -> str:
    """Where an asset lies below the static folder, or below the base address of a static server."""
    return f"{kind}/{sha256[:2]}/{sha256}.{'json' if kind == SUMMARY else 'md'}"
