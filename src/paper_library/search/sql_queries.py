"""Rewrite SQL statements that agents send as queries."""

import re
from collections.abc import Callable
from typing import Final

_CLAUSE: Final = re.compile(
    r"'[^']*'|\"[^\"]*\"|\b(?P<word>select|from|where|group\s+by|order\s+by|limit)\b", re.IGNORECASE
)
_FUNCTION: Final = re.compile(r"\b(?:lower|upper|trim)\(([\w.]{1,80})\)", re.IGNORECASE)
_OPERATOR: Final = re.compile(r"[=<>]|\blike\b|\bbetween\b|\bin\s*\(", re.IGNORECASE)
_CONDITION: Final = re.compile(
    r"(?<!\w)(?:[a-z_]\w{0,40}\.)?(?P<name>[a-z_]\w{0,40})(?:\s*(?P<sign><=|>=|<>|!=|==?|<|>)\s*(?P<value>\"[^\"]*\"|[^\s\"();,]+)"
    r"|\s+(?P<unlike>not\s+)?i?like\s*(?P<like>\"[^\"]*\")"
    r"|\s+between\s+(?P<low>\d{4})\s+and\s+(?P<high>\d{4})"
    r"|\s+(?P<outside>not\s+)?in\s*\((?P<list>[^()]*)\))",
    re.IGNORECASE,
)
_JOINING: Final = re.compile(r"\"[^\"]*\"|\b(?P<word>and|or|not)\b", re.IGNORECASE)
_COLUMNS: Final = {
    "title",
    "author",
    "authors",
    "venue",
    "journal",
    "keyword",
    "keywords",
    "tag",
    "tags",
    "year",
    "doi",
}
_TEXT_COLUMNS: Final = {"abstract", "text", "body", "content", "fulltext", "full_text", "summary"}


def rewrite_sql(text: str, add_note: Callable[[str], None]) -> str:
    """Return a SELECT statement in the query language; return any other text unchanged.

    `add_note` receives a sentence with the new query, and one for each part of the statement that was ignored.
    """
    clauses = _split_clauses(text)
    if not clauses:
        return text
    condition = _FUNCTION.sub(r"\1", clauses.get("where", "")).replace("'", '"')
    filters = _CONDITION.sub(lambda found: _rewrite_condition(found, add_note), condition)
    # Filters are combined with AND by default.
    joined = _JOINING.sub(lambda found: found[0] if not found["word"] else found[0].upper().replace("AND", ""), filters)
    query = " ".join(f"{joined} {_rewrite_order(clauses.get('order by', ''))}".split())
    add_note(f"SQL is not executed; the query was read as: {query or 'all papers'}")
    if limit := clauses.get("limit", ""):
        add_note(f"LIMIT {limit} was ignored; use the limit argument.")
    return query


def _split_clauses(text: str) -> dict[str, str]:
    """Return the clauses of a SELECT statement by keyword, or an empty dict for running text."""
    text = text.strip().rstrip("; ")
    if text[:6].lower() != "select":
        return {}
    marks = [found for found in _CLAUSE.finditer(text) if found["word"]]
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    clauses = {
        " ".join(mark["word"].lower().split()): text[mark.end() : end].strip()
        for mark, end in zip(marks, ends, strict=True)
    }
    columns = [name.strip().lower() for name in clauses.get("select", "").split(",")]
    is_sql = columns == ["*"] or set(columns) <= _COLUMNS or _OPERATOR.search(clauses.get("where", ""))
    return clauses if "from" in clauses and is_sql else {}


def _rewrite_condition(found: re.Match[str], add_note: Callable[[str], None]) -> str:
    name = found["name"].lower()
    if name not in _COLUMNS | _TEXT_COLUMNS:
        add_note(f"{found[0]} was ignored: {name} is not a searchable field.")
        return ""
    field = "" if name in _TEXT_COLUMNS else f"{name}:"
    if found["low"]:
        return f"{field}{found['low']}..{found['high']}"
    if found["list"] is not None:
        values = [value.strip().strip('"') for value in found["list"].split(",")]
        options = " OR ".join(f'{field}"{value}"' for value in values)
        return f"NOT {' NOT '.join(options.split(' OR '))}" if found["outside"] else options
    value = (found["like"] or found["value"]).strip('"').replace("%", " ").strip()
    sign = found["sign"] or ""
    minus = "-" if found["unlike"] or sign in ("<>", "!=") else ""
    if sign in ("<", ">", "<=", ">="):
        return f"{field}{sign}{value}"
    return f'{minus}{field}"{value}"'


def _rewrite_order(clause: str) -> str:
    column, _, direction = clause.partition(" ")
    if not column:
        return ""
    return f"sort:{column.lower()}_{'desc' if direction.strip().lower() == 'desc' else 'asc'}"
