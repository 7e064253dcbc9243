"""Know how people and agents write filters: other names and spellings, years such as `since 2015`, and SQL.

Folding already makes `é` and `e`, `ß` and `ss`, `ü` and `u` the same. Only phrases with a word of time and four-digit
years are bounds. Relative phrases (`last five years`), decades and bare years stay search words.
"""

import re
import unicodedata
from collections.abc import Callable
from datetime import date
from typing import Final

from rapidfuzz.distance import OSA

from paper_library.domain.query import FIELDS, Sort
from uraniborg.kernel.language.phrase_files import BREAK
from uraniborg.kernel.language.publication_years import YearLimit, read_years
from uraniborg.kernel.language.words import STOP_WORDS, fold_text, split_words

SORT_FIELD: Final = "sort"
_NAMES: Final = {
    "title": "titles titel titre titulo titolo 标题 题名 タイトル",
    "author": "authors autor autores autoren auteur auteurs autore autori verfasser writer 作者 著者",
    "venue": "venues journal journals conference zeitschrift revue revista rivista booktitle 期刊",
    "keyword": "keywords schlagwort stichwort mot-cle mots-cles palabra-clave palavra-chave 关键词 キーワード",
    "tag": "tags",
    "institution": "institutions institute institut affiliation affiliations university universitat universite",
    "doi": "dois",
    "arxiv": "eprint arxivid",
    "year": "years jahr annee ano anno date published 年 年份",
    SORT_FIELD: "sortby sort_by sort-by order orderby order_by sortieren tri",
}
_FIELD_OF: Final = {name: name for name in (*FIELDS, SORT_FIELD)} | {
    name: field for field, names in _NAMES.items() for name in names.split()
}
_SORT_NAMES: Final[dict[Sort, str]] = {
    "relevance": "score best rank",
    "year_desc": "year date newest recent latest -year year:desc",
    "year_asc": "oldest +year year:asc",
    "title_asc": "title name alphabetical title:asc",
    "title_desc": "-title title:desc",
}
_SORT_OF: Final[dict[str, Sort]] = {
    name: sort for sort, names in _SORT_NAMES.items() for name in (sort, *names.split())
}
_SORT_PHRASE: Final = re.compile(
    r'"[^"]*"|[,;]?\s*\b(?:(?P<age>newest|latest|oldest)\s+first'
    r"|(?:order(?:ed)?|sort(?:ed)?)\s+by\s+(?P<column>[a-z]+)(?:\s+(?P<direction>asc|desc)(?:ending)?)?)\b",
    re.IGNORECASE,
)
_SHORTEST_GUESS: Final = 4
_NAMED: Final = re.compile(
    r'"[^"]*"'
    r"|(?<![^\s(\[{-])(?P<name>[^\W\d][\w-]{0,24})"
    r"(?P<sign>\s?:(?![:/])\s*|\s*(?:[<>]=?|==?)\s*)(?=(?P<value>\"|[^\s\"]+))"
)
_SIGN: Final = re.compile("[:<>=]")
_TAGS: Final = {
    tag: field
    for field, tags in {
        "author": "au auth author 1au fau lastau",
        "title": "ti title",
        "venue": "ta jour journal so",
        "keyword": "kw mh mesh ot majr",
        "year": "dp pdat year",
    }.items()
    for tag in tags.split()
}
_TAGGED: Final = re.compile(
    r'(?P<value>"[^"]*"|(?:[^\W\d_][\w\'’-]*\s+(?=[A-Z]{1,3}\[))?[^\s"\[\]()]+)\s?\[(?P<tag>[a-z]\w{1,9})\]',
    re.IGNORECASE,
)
"""A word, a quoted text, or a surname with initials, and the tag of a field as PubMed has it: `Mayor M[au]`."""
_YEARS: Final = re.compile(r"[<>]?=?(?=\S*\d{4})(?:\d{4})?(?:\.\.|[-–])?(?:\d{4})?[,;.)]?")
_UMLAUTS: Final = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe"}
_RING: Final = {"å": "aa"}
_TABLES: Final = [
    str.maketrans(table | {sign.upper(): text for sign, text in table.items()})
    for table in (_UMLAUTS, _UMLAUTS | _RING)
]
_CONSONANT: Final = "b-df-hj-np-tv-xz"
_INNER: Final = re.compile(rf"(?<=[{_CONSONANT}])(?<![xq])(?:ae|oe|ue)(?=[{_CONSONANT}])(?!s$)(?<!ue(?=n$))")
_FIRST: Final = re.compile(rf"^(?:ae|oe|ue)(?=[{_CONSONANT}])")
_DOUBLE_A: Final = re.compile(r"(?<=g)aa(?=rd)|^aa(?=rhus|lborg|ngstr|ge$|se$)|(?<=h)aa(?=k[ao]n)")
_MAYBE: Final = re.compile("[aou]e|aa")
_SHORTEST_SPELLING: Final = 5
_MOST_INITIALS: Final = 3
_NOT_UMLAUTS: Final = frozenset(
    ["michael", "michaels", "rafael", "raphael", "israel", "samuel", "manuel", "emanuel", "miguel", "roeland"]
) | {"guest", "guests", "poems", "poets"}
"""Words in which these letters are not an umlaut, although a similar word without `e` exists."""


def find_sort(name: str) -> Sort | None:
    """Return the sort order with this name or synonym, or None."""
    return _SORT_OF.get(fold_text(name).strip("\"'"))


def rewrite_sort_phrases(text: str) -> str:
    """Return `text` with `newest first` and `order by year` as `sort:year_desc`. Quoted text does not change."""

    def rewrite_phrase(found: re.Match[str]) -> str:
        if found["column"] is None:
            return f" {SORT_FIELD}:{found['age']}" if found["age"] else found[0]
        order = find_sort(found["column"])
        if order and found["direction"] and not order.startswith("relevance"):
            order = f"{order.partition('_')[0]}_{found['direction'].lower()}"
        return f" {SORT_FIELD}:{order}" if order else found[0]

    return _SORT_PHRASE.sub(rewrite_phrase, text)


def rewrite_tagged_words(text: str) -> str:
    """Return `text` with `Mayor M[au]` as `author:"Mayor, M"` and `planet[ti]` as `title:planet`."""

    def rewrite_tag(found: re.Match[str]) -> str:
        field, value = _TAGS.get(found["tag"].lower()), found["value"]
        if field is None:
            return found[0]
        surname, _, initials = value.strip('"').rpartition(" ")
        if field == "author" and surname and initials.isupper() and len(initials) <= _MOST_INITIALS:
            value = f'"{surname}, {" ".join(initials)}"'
        return f"{field}:{value}"

    return _TAGGED.sub(rewrite_tag, text) if "[" in text else text


def normalise_field_names(text: str, add_note: Callable[[str], None]) -> str:
    """Return `text` with every field name normalised: `Autor : Zhang` and `author = Zhang` as `author:Zhang`.

    Quoted text does not change. `add_note` receives a sentence for each misspelt or unknown field.
    """

    def rename_field(found: re.Match[str]) -> str:
        if found["name"] is None:
            return found[0]
        name, is_filter = fold_text(found["name"]), found["sign"] == ":"
        field = _FIELD_OF.get(name)
        if field is None and ":" in found["sign"] and (field := _find_nearest_field(name)):
            add_note(f"{found['name']}: is not a field; it was read as {field}:.")
        if field is None:
            if is_filter and len(name) > 1:
                add_note(f"{found['name']}: is not a field; it was searched as a word. Fields: {', '.join(FIELDS)}.")
            return found[0]
        if not is_filter and not _is_filter(field, found["sign"].strip(), found["value"]):
            # A heading above pasted text is not a word to search for.
            return "" if field == "title" and ":" in found["sign"] else found[0]
        return f"{field}:{found['sign'].strip(' :=') and found['sign'].strip()}"

    return _NAMED.sub(rename_field, text) if _SIGN.search(text) else text


def _find_nearest_field(name: str) -> str | None:
    """Return the field that `name` misspells by one letter, or None."""
    if len(name) < _SHORTEST_GUESS:
        return None
    return next((field for field in FIELDS if OSA.distance(name, field, score_cutoff=1) <= 1), None)


def _is_filter(field: str, sign: str, value: str) -> bool:
    """Return True if a field, a sign and a value, separated by spaces, are a filter and not running text."""
    if field == "year":
        return _YEARS.fullmatch(value) is not None
    if field == SORT_FIELD:
        return find_sort(value) is not None
    return sign in (":", "=", "==") and value.casefold() not in STOP_WORDS


def split_words_with_spellings(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return the words of `text`, each with its other spellings."""
    plain = split_words(text)
    longer: list[list[str]] = []
    if not text.isascii():
        composed = unicodedata.normalize("NFC", text)
        longer = [found for table in _TABLES if len(found := split_words(composed.translate(table))) == len(plain)]
    spelled: list[tuple[str, tuple[str, ...]]] = []
    for at, word in enumerate(plain):
        others = dict.fromkeys((*(other[at] for other in longer), _spell_without_e(word)))
        spelled.append((word, tuple(other for other in others if other != word)))
    return spelled


def _spell_without_e(word: str) -> str:
    """Return `muller` for `mueller`, because `müller` is indexed as `muller`."""
    if len(word) < _SHORTEST_SPELLING or not word.isascii() or not _MAYBE.search(word) or word in _NOT_UMLAUTS:
        return word
    shorter = _DOUBLE_A.sub("a", _INNER.sub(lambda found: found[0][0], word))
    return _FIRST.sub(lambda found: found[0][0], shorter) if shorter != word else word


_QUOTED: Final = re.compile('"[^"]*"')
_MASK: Final = "\ue000"
_ANY_DAY: Final = date(2098, 12, 31)
"""Explicit years do not depend on the day; years from 1600 to 2099 can be bounds."""


def extract_year_bounds(text: str) -> tuple[str, list[YearLimit]]:
    """Return `text` without its year bounds, and the bounds. Quoted text stays as it is."""
    if not any(map(str.isdigit, text)):
        return text, []
    quoted = _QUOTED.findall(text)
    reading = read_years(_QUOTED.sub(_MASK, text), _ANY_DAY, strict=True)
    if not reading.limits:
        return text, []
    rest = reading.rest.replace(BREAK, " ")
    return re.sub(_MASK, lambda _: quoted.pop(0), rest), reading.limits


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
