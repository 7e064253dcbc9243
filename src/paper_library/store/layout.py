"""Lay out a shelf on disk: file names, tables and asset paths."""

from typing import Final

SCHEMA_VERSION: Final = 2
READABLE_SINCE: Final = 1
"""The oldest readable schema. Schema 1 has no `entry` table, no flags in its index and fewer metadata fields."""
DATABASE: Final = "shelf.db"
INDEX: Final = "index"
STATIC: Final = "static"
MANIFEST: Final = "manifest.json"
BUILT_BY: Final = "built_by.json"
"""Who built the shelf. Not in the manifest: earlier versions read manifests without unknown fields only."""

FACET_KINDS: Final = ("author", "venue", "keyword", "institution", "tag", "year")
SOURCE: Final = "source"
SUMMARY: Final = "summary"
TRANSLATION: Final = "translation"
ORIGINAL: Final = "original"
"""The PDF that the text of a paper was read from."""
TEXT_KINDS: Final = (SOURCE, TRANSLATION, SUMMARY)
_SUFFIXES: Final = {SUMMARY: "json", ORIGINAL: "pdf"}

TABLES: Final = """
CREATE TABLE paper (
    no INTEGER PRIMARY KEY,      -- number in the order of titles
    paper_id TEXT NOT NULL UNIQUE,
    title_fold TEXT NOT NULL,
    year INTEGER,
    metadata BLOB NOT NULL,      -- all metadata of the paper, as JSON
    bibtex TEXT NOT NULL,
    keys TEXT NOT NULL,          -- JSON list of its keys, strongest first
    origins TEXT NOT NULL,       -- JSON list of its inputs
    digest TEXT NOT NULL         -- of metadata, BibTeX and assets
);
CREATE TABLE alias (key TEXT PRIMARY KEY, no INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE facet (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, fold TEXT NOT NULL, value TEXT NOT NULL, paper_count INTEGER NOT NULL
);
CREATE TABLE paper_facet (facet INTEGER NOT NULL, no INTEGER NOT NULL, PRIMARY KEY (facet, no)) WITHOUT ROWID;
CREATE TABLE asset (
    no INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    sha256 TEXT NOT NULL, bytes INTEGER NOT NULL, chars INTEGER NOT NULL,
    is_added INTEGER NOT NULL,   -- the summary comes from a summary folder
    PRIMARY KEY (no, kind, name)
) WITHOUT ROWID;
CREATE TABLE entry (             -- the entries of a paper that has several, as JSON; see build/entry_storage.py
    no INTEGER NOT NULL, place INTEGER NOT NULL, entry BLOB NOT NULL, PRIMARY KEY (no, place)
) WITHOUT ROWID;
CREATE TABLE missing (what TEXT PRIMARY KEY, papers INTEGER NOT NULL) WITHOUT ROWID;
"""

INDEXES: Final = """
CREATE INDEX paper_title ON paper (title_fold);
CREATE UNIQUE INDEX facet_value ON facet (kind, fold);
CREATE INDEX facet_top ON facet (kind, paper_count DESC, value);
"""


def make_asset_path(kind: str, sha256: str) -> str:
    """Return the path of an asset below the static folder or the base address of a static server."""
    return f"{kind}/{sha256[:2]}/{sha256}.{_SUFFIXES.get(kind, 'md')}"
