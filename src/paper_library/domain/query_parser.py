"""Parse query texts. Every text is a valid query."""

import re
from collections.abc import Iterator
from typing import Final

from paper_library.domain.query import FIELDS, SORTS, Kind, ParsedQuery, QueryUnit, find_distinctive_parts
from paper_library.domain.query_notations import (
    SORT_FIELD,
    extract_year_bounds,
    find_sort,
    normalise_field_names,
    rewrite_sort_phrases,
    rewrite_sql,
    rewrite_tagged_words,
    split_words_with_spellings,
)
from uraniborg.kernel.language.words import fold_text, split_words, stem_word

PROSE_WORDS: Final = 8
"""A text with this many content words is prose; its quotation marks and dashes are punctuation."""
_OPERATORS: Final = ("AND", "OR", "NOT")
_UNIT: Final = re.compile(
    r"(?P<minus>-(?=[^\s-]))?(?:[(\[{]*"
    rf"(?P<field>{'|'.join((*FIELDS, SORT_FIELD))}):(?P<value>\"[^\"]*\"|[^\s\"]+)"
    r"|\"(?P<phrase>[^\"]*)\"|(?P<run>[^\s\"]+))"
    r"|(?P<stray>\")",
    re.IGNORECASE,
)
_SIGNS: Final = str.maketrans(dict.fromkeys("“”„‟«»＂", '"') | {"：": ":", "\0": " "})
_PREFIX: Final = re.compile(r"([^\W_]{2,})\*")
_HYPHENATED: Final = re.compile(r"[\w.]+(?:-[\w.]+)+")
_PUNCTUATION: Final = "()[]{},;:.!?'"
_YEARS: Final = re.compile(r"(?P<from>\d{4})?(?P<to_>\.\.|-|–)?(?P<to>\d{4})?")
_COMPARED: Final = re.compile(r"(?P<how>[<>]=?)(?P<year>\d{4})")
_ALL_PAPERS: Final = re.compile(
    r"\s*(?:\*(?::\*)?|(?:(?:list|show|get|give)\s+(?:me\s+)?)?(?:all|every)\s+(?:the\s+)?(?:papers?|articles?))[\s.!]*",
    re.IGNORECASE,
)
_VAGUE_YEARS: Final = re.compile(
    r"\b(?:(?P<decade>(?:1[89]|20)\d0)s|(?:last|past|recent)\s+(?:\d{1,3}|few|two|three|five|ten)\s+years)\b",
    re.IGNORECASE,
)
_SURNAME_FIRST: Final = re.compile(r"(?P<surname>[^,]+),\s*(?P<given>[^,]+)")
_GROUP: Final = re.compile(r"(?<!\w)[(\[{]")
_GROUP_OF: Final = re.compile(r"(?:(?<!\S)-|:)[(\[{]")
_ORDER_OF_GROWTH: Final = re.compile(r"\b[oO]\([^()\n]{1,30}\)")


def parse_query(text: str) -> ParsedQuery:
    """Return the parsed query. Never raise an exception."""
    return _QueryParser(text).query


class _QueryParser:
    """Parses one text; the state is the operator that applies to the next unit."""

    def __init__(self, text: str) -> None:
        self.query = ParsedQuery()
        self._groups: list[list[QueryUnit]] = []
        self._must: set[int] = set()
        self._placed: list[int] = []
        self._operator = ""
        self._negated = False
        self._joins = False
        plain = self._rewrite_text_and_record_years(text)
        tokens = list(_UNIT.finditer(plain))
        self._is_prose = self._is_prose_text(tokens)
        for token in tokens:
            self._read_token(token)
        self._assign_groups_to_query(plain)

    def _rewrite_text_and_record_years(self, text: str) -> str:
        """Return `text` in the query language; store its years and whether it has operators."""
        plain = text.translate(_SIGNS)
        # Spaces inside would split one word into several.
        plain = _ORDER_OF_GROWTH.sub(lambda found: "".join(found[0].split()), plain)
        note = self.query.ignored.append
        plain = rewrite_sort_phrases(rewrite_sql(plain, note))
        if _ALL_PAPERS.fullmatch(plain):
            note(f"“{plain.strip()}” was read as all papers.")
            plain = ""
        self.query.is_blank = not plain.strip()
        self._can_have_operators = _can_have_operators(plain)
        plain, phrases = extract_year_bounds(normalise_field_names(rewrite_tagged_words(plain), note))
        for found in _VAGUE_YEARS.finditer(plain):
            decade = found["decade"]
            years = f"year:{decade}..{int(decade) + 9}" if decade else "the first year, such as year:2015.."
            note(f"“{found[0]}” was searched as words; to filter, write {years}.")
        for phrase in phrases:
            years = phrase.first, phrase.last
            self.query.required.append([QueryUnit("years", str(phrase), "year", years=years, typed=phrase.typed)])
        return plain

    def _is_prose_text(self, tokens: list[re.Match[str]]) -> bool:
        if not any(token["minus"] or token["phrase"] for token in tokens):
            return False
        if self._can_have_operators and any(token["run"] in _OPERATORS for token in tokens):
            return False
        outside = sum(_count_content_words(token["run"]) for token in tokens if token["run"])
        quoted = sum(_count_content_words(token["phrase"]) for token in tokens if token["phrase"])
        return outside > 0 and outside + quoted >= PROSE_WORDS

    def _read_token(self, token: re.Match[str]) -> None:
        if token["stray"]:
            self.query.ignored.append("An unmatched quotation mark was ignored.")
            return
        if self._can_have_operators and (run := token["run"]) in _OPERATORS and not token["minus"]:
            self._apply_operator(run)
            return
        units = list(self._parse_units(token))
        negated = bool(token["minus"]) or self._negated
        self._negated = False
        if not units:
            return
        if len(units) > 1 and (negated or self._operator == "OR") and units[0].kind == "word":
            # The parts of one run belong together.
            units = [QueryUnit("phrase", " ".join(unit.text for unit in units))]
        if self._is_prose and not token["field"]:
            if negated or units[0].kind == "phrase":
                self._add_note_once("Quotation marks and dashes do not filter in a text of this length.")
            self.query.boosting += [unit for unit in units if unit.kind == "phrase"]
            self._add_units_as_groups([word for unit in units for word in _split_if_phrase(unit)])
        elif negated:
            self._exclude_units(units)
        else:
            self._add_units_as_groups(units)

    def _add_note_once(self, sentence: str) -> None:
        if sentence not in self.query.ignored:
            self.query.ignored.append(sentence)

    def _apply_operator(self, operator: str) -> None:
        self._joins = True
        if operator == "NOT":
            self._negated = True
        elif self._groups:
            self._operator = operator
        else:
            self.query.ignored.append(f"{operator} at the beginning was ignored.")

    def _exclude_units(self, units: list[QueryUnit]) -> None:
        self._operator = ""
        for unit in map(_turn_name_into_phrase, units):
            if _is_stop_word(unit):
                self.query.ignored.append(f"{unit.text} is too common to be excluded.")
            else:
                self.query.excluded.append(unit)

    def _add_units_as_groups(self, units: list[QueryUnit]) -> None:
        if self._operator == "OR":
            self._groups[-1] += units
            placed = [len(self._groups) - 1]
        else:
            placed = list(range(len(self._groups), len(self._groups) + len(units)))
            self._groups += [[unit] for unit in units]
        if self._operator == "AND":
            self._must.update((*self._placed, *placed))
        self._placed, self._operator = placed, ""

    def _assign_groups_to_query(self, plain: str) -> None:
        query = self.query
        if _GROUP.search(plain) and (self._joins or _GROUP_OF.search(plain)):
            query.ignored.append("Brackets do not group words; they were ignored.")
        if self._operator or self._negated:
            query.ignored.append(f"{self._operator or 'NOT'} at the end was ignored.")
        if not (self._groups or query.required or query.excluded or query.is_blank or query.ignored or query.sort):
            query.ignored.append("The query has no words to search for.")
        query.is_blank = query.is_blank or not (self._groups or query.required or query.excluded or not query.sort)
        for index, group in enumerate(self._groups):
            content = [
                unit if len(group) == 1 else _turn_name_into_phrase(unit) for unit in group if not _is_stop_word(unit)
            ]
            is_filter = any(unit.kind not in ("word", "prefix", "name") for unit in content)
            if content and (index in self._must or is_filter):
                query.required.append(list(map(_turn_name_into_phrase, content)))
            else:
                query.wanted.append(group)

    def _parse_units(self, token: re.Match[str]) -> Iterator[QueryUnit]:
        if token["field"]:
            yield from self._parse_filter(token["field"].lower(), token["value"])
        elif token["phrase"] is not None:
            if spelled := split_words_with_spellings(token["phrase"]):
                unit = _make_multiword_unit("phrase", spelled)
                yield QueryUnit("word", unit.text) if _is_stop_word(unit) else unit
        elif prefix := _PREFIX.fullmatch(token["run"].strip("()[]{},;")):
            yield QueryUnit("prefix", fold_text(prefix[1]))
        else:
            spelled = split_words_with_spellings(token["run"])
            if len(spelled) > 1 and _is_name_with_number(token["run"], " ".join(word for word, _ in spelled)):
                yield _make_multiword_unit("name", spelled)
            else:
                yield from (QueryUnit("word", word, spellings=others) for word, others in spelled)

    def _parse_filter(self, name: str, value: str) -> Iterator[QueryUnit]:
        quoted = value.startswith('"')
        bare = value.strip('"').strip()
        if name == "author" and (written := _SURNAME_FIRST.fullmatch(bare)):
            bare = self._order_name(written["surname"].strip(), written["given"].strip())
        spelled = split_words_with_spellings(bare)
        if name == SORT_FIELD:
            self._set_sort(bare)
            return
        if name == "year":
            if years := _parse_years(bare.rstrip(",;)")):
                yield QueryUnit("years", bare, name, years=years)
                return
        elif name in ("doi", "arxiv"):
            if bare:
                yield QueryUnit("field", bare, name)
                return
        elif name == "title" and spelled and not any(stem_word(word) for word, _ in spelled):
            self.query.ignored.append(f"title:{bare} is too common to be required.")
            yield from (QueryUnit("word", word) for word, _ in spelled)
            return
        elif spelled:
            unit = _make_multiword_unit("field", spelled)
            yield QueryUnit("field", unit.text, name, quoted, spellings=unit.spellings)
            return
        self.query.ignored.append(f"{bare} is not a valid value of {name}:; it was searched as words.")
        yield from (QueryUnit("word", word) for word in split_words(f"{name} {bare}"))

    def _order_name(self, surname: str, given: str) -> str:
        """Return a name that was written with the surname first in the order of the shelf, without initials."""
        if any(len(part) > 1 for part in split_words(given)):
            return f"{given} {surname}"
        self.query.ignored.append(f"{given} was ignored: initials are not searched. Read as author:{surname}.")
        return surname

    def _set_sort(self, name: str) -> None:
        order = find_sort(name)
        if order is None:
            self.query.ignored.append(f"sort:{name} is not an order. Orders: {', '.join(SORTS)}.")
        else:
            self.query.sort = order


def _can_have_operators(text: str) -> bool:
    """Return False for a text in capitals, in which AND, OR and NOT are ordinary words."""
    if any(char.islower() for char in text):
        return True
    return not any(char.isupper() for word in text.split() if word not in _OPERATORS for char in word)


def _count_content_words(text: str) -> float:
    """Return the number of content words; a pair of characters of a script without spaces counts half."""
    return sum(1 if len(word) != 2 or word.isascii() else 0.5 for word in split_words(text) if stem_word(word))


def _is_name_with_number(run: str, parts: str) -> bool:
    """Return True for `TRAPPIST-1` and `GJ-1214b`, False for `well-known` and `2019-2020`."""
    if not any(map(str.isdecimal, parts)) or not find_distinctive_parts(parts):
        return False
    return _HYPHENATED.fullmatch(fold_text(run).strip(_PUNCTUATION)) is not None


def _make_multiword_unit(kind: Kind, spelled: list[tuple[str, tuple[str, ...]]]) -> QueryUnit:
    """Return one unit of several words; its n-th spelling has the n-th spelling of each word."""
    most = max(len(others) for _, others in spelled)
    texts = [" ".join((word, *others)[min(rank, len(others))] for word, others in spelled) for rank in range(most + 1)]
    return QueryUnit(kind, texts[0], spellings=tuple(texts[1:]))


def _is_stop_word(unit: QueryUnit) -> bool:
    return unit.kind in ("word", "phrase") and " " not in unit.text and not stem_word(unit.text)


def _turn_name_into_phrase(unit: QueryUnit) -> QueryUnit:
    """Return a name as a phrase, for use with operators and dashes."""
    return QueryUnit("phrase", unit.text, spellings=unit.spellings) if unit.kind == "name" else unit


def _split_if_phrase(unit: QueryUnit) -> list[QueryUnit]:
    return [QueryUnit("word", word) for word in unit.text.split()] if unit.kind == "phrase" else [unit]


def _parse_years(text: str) -> tuple[int | None, int | None] | None:
    if compared := _COMPARED.fullmatch(text):
        year, how = int(compared["year"]), compared["how"]
        return (year + (how == ">"), None) if how[0] == ">" else (None, year - (how == "<"))
    found = _YEARS.fullmatch(text)
    if not found or not (found["from"] or found["to"]):
        return None
    start = int(found["from"]) if found["from"] else None
    end = int(found["to"]) if found["to"] else None
    if not found["to_"]:
        return (start, start) if end is None else None
    return (start, end) if start is None or end is None or start <= end else (end, start)
