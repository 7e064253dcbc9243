"""Check words, quotation marks and field tags."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from paper_search.domain.strategies.findings import Correction, QueryProblem
from paper_search.domain.strategies.terms import find_field, suggest_tag
from paper_search.domain.strategies.tokens import LOWER_OPERATORS, QueryToken, find_operator
from uraniborg.kernel.language.boolean_query import DISTANCE, FieldTag, split_query_words

_REFERENCE: Final = re.compile(r"#\d{1,3}")
_CURLY: Final = "“”„‟«»＂″"
_FEWEST_LETTERS: Final = 4
_TAG_ENDS: Final = ".,;:}{)"


def check_curly_quotes(query: str) -> Iterator[QueryProblem]:
    """Yield the quotation marks that are not straight."""
    for position, sign in enumerate(query):
        if sign in _CURLY:
            message = "This is not a straight quotation mark; it is read as one."
            correction = Correction(position, position + 1, '"')
            hint = 'Write ": databases may read other marks as letters.'
            yield QueryProblem("warning", position, position + 1, message, hint, correction)


def check_quotes(tokens: Sequence[QueryToken], *, is_strategy: bool) -> Iterator[QueryProblem]:
    """Yield quotation marks that are not closed or hold a tag, and empty phrases."""
    index = 0
    while index < len(tokens):
        token, end = tokens[index], _find_end_of_quoted_tag(tokens, index) if is_strategy else None
        if end is not None:
            words = " ".join(word.text for word in tokens[index + 1 : end - 1])
            correction = Correction(token.start, tokens[end].end, f'"{words}"{tokens[end - 1].text}')
            message, hint = "The tag stands inside the quotation marks.", "Write it after them."
            yield QueryProblem("warning", token.start, tokens[end].end, message, hint, correction)
            index = end
        elif token.kind == "quote":
            message, hint = "This quotation mark is not closed.", 'Close the phrase with a second ".'
            correction = _close_phrase(tokens, index) if is_strategy else None
            yield QueryProblem("error", token.start, token.end, message, hint, correction)
        elif token.kind == "phrase" and not token.has_letters:
            hint = "Remove the quotation marks, or write words between them."
            yield QueryProblem("error", token.start, token.end, "This phrase is empty.", hint)
        index += 1


def check_plain_words(tokens: Sequence[QueryToken]) -> Iterator[QueryProblem]:
    """Yield the words of a plain query that are read otherwise than written."""
    for token in tokens:
        if token.kind == "phrase":
            if "*" in token.text:
                hint = "Write the words without quotation marks, joined by AND."
                yield _warn(token, "A * inside quotation marks is dropped.", hint)
        elif token.kind != "word":
            continue
        elif token.text == "ANDNOT":
            yield from _check_joined_operator(token)
        elif _REFERENCE.fullmatch(token.text):
            message = f"The text has no line {token.text}."
            yield QueryProblem("error", token.start, token.end, message, "Paste all lines, with their numbers.")
        elif sign := LOWER_OPERATORS.get(token.text):
            message = f"“{token.text}” is read as a word, not as an operator."
            yield _warn(token, message, f"Write {sign} for the operator.", sign)
        elif token.text.strip("&|!+") == "":
            yield _warn(token, f"“{token.text}” is dropped: it is not an operator.", "Write AND, OR or NOT.")
        elif DISTANCE.fullmatch(token.text):
            message = f"“{token.text}” is read as AND: sources do not search distances."
            yield _warn(token, message, 'Use AND, a phrase in "…", or PubMed\'s "two words"[tiab:~3].')
        elif "*" in token.text[:-1]:
            yield _warn(token, "A * counts only at the end of a word.", "Write the beginning of the word, then *.")
        elif token.text.endswith("*") and len(token.text) < _FEWEST_LETTERS:
            message = "This * is dropped: at least three letters must stand before it."
            yield _warn(token, message, "Write more of the word.")
        elif len(words := split_query_words(token.text)) > 1:
            message = f"“{token.text[:40]}” is read as the phrase “{' '.join(words)[:40]}”."
            yield _warn(token, message, "Write spaces between words that need not follow one another.")


def check_plain_tags(tags: Sequence[FieldTag], text: str) -> Iterator[QueryProblem]:
    """Yield the field tags that are dropped, and those that no database has."""
    for tag in tags:
        if not tag.is_known:
            hint = f"Remove “{tag.text}”, or put the words in quotation marks if it is part of them."
            yield QueryProblem("error", tag.start, tag.end, f"“{tag.text}” is not a known field.", hint)
        elif tag.is_dropped:
            message = f"“{tag.text}” is dropped, and its words are searched in all fields."
            hint = "Write the field as in PubMed, after the word: malaria[ti]."
            yield QueryProblem("warning", tag.start, tag.end, message, hint)
    known = {position for tag in tags for position in (tag.start, tag.end - 1)}
    for position, sign in enumerate(text):
        if sign in "[]" and position not in known and not _has_partner(text, position):
            hint = "Remove it, or complete the field name."
            message = "This square bracket has no partner and is dropped."
            yield QueryProblem("warning", position, position + 1, message, hint, Correction(position, position + 1, ""))


def check_strategy_words(tokens: Sequence[QueryToken]) -> Iterator[QueryProblem]:
    """Yield the words and operators of a strategy that PubMed does not read as they are written."""
    for index, token in enumerate(tokens):
        if token.kind != "word":
            continue
        sign = LOWER_OPERATORS.get(token.text.lower(), "")
        if token.text == "ANDNOT":
            yield from _check_joined_operator(token)
        elif sign and token.text != sign:
            is_operator = find_operator(tokens, index)
            how = "an operator, which some databases do not" if is_operator else "a word, not as an operator"
            yield _warn(token, f"“{token.text}” is read as {how}.", f"Write {sign} for the operator.", sign)
        elif not token.has_letters and token.text.strip(":-–—,;."):
            yield _warn(token, f"“{token.text[:40]}” is dropped: it is not a word.", "Remove it.", "")
        elif DISTANCE.fullmatch(token.text):
            hint = 'Write the distance as in PubMed: "two words"[tiab:~3].'
            yield _warn(token, f"“{token.text}” is not PubMed's sign for a distance.", hint)
        elif "*" in token.text[:-1] and token.text.strip(",;.") != "*":
            text = token.text[0].replace("*", "") + token.text[1:]
            correction = text if "*" not in text[:-1] else None
            message = "PubMed reads a * only at the end of a word."
            yield _warn(token, message, "Write the beginning of the word, then *.", correction)
        elif "?" in token.text.strip("?"):
            yield _warn(token, "PubMed does not read a ? as any letter.", "Write each spelling, joined by OR.")
        elif token.text.endswith("*") and len(token.text.strip("*")) < _FEWEST_LETTERS:
            message = f"PubMed needs at least {_FEWEST_LETTERS} letters before a *."
            yield _warn(token, message, "Write more of the word.")


def check_strategy_tags(tokens: Sequence[QueryToken]) -> Iterator[QueryProblem]:
    """Yield the unknown field tags of a strategy, and square brackets that are not closed."""
    for index, token in enumerate(tokens):
        if token.kind == "tag" and find_field(token.tag_name) is None:
            name = suggest_tag(token.tag_name)
            hint = f"Write [{name}], or put the words in quotation marks if it is part of them."
            correction = Correction(token.start, token.end, f"[{name}]")
            message = f"“{token.text}” is not a field of PubMed."
            yield QueryProblem("error", token.start, token.end, message, hint, correction)
        elif token.kind == "square":
            yield _make_square_error(tokens, index)


def _make_square_error(tokens: Sequence[QueryToken], index: int) -> QueryProblem:
    token = tokens[index]
    neighbour = index + 1 if token.text == "[" else index - 1
    other = tokens[neighbour] if 0 <= neighbour < len(tokens) else None
    name = other.text.strip(_TAG_ENDS) if other and other.kind == "word" else ""
    correction = Correction(token.start, token.end, "")
    hint = "Remove it, or complete the field name."
    if other and name and find_field(name):
        start, end = min(token.start, other.start), max(token.end, other.end)
        correction, hint = Correction(start, end, f"[{name}]"), f"Write [{name}]."
    return QueryProblem("error", token.start, token.end, "This square bracket has no partner.", hint, correction)


def _close_phrase(tokens: Sequence[QueryToken], index: int) -> Correction | None:
    """Return the correction of a quotation mark before or after the words of a tag: `"sea ice[ti]`, `sea ice"[ti]`."""
    token = tokens[index]
    after = index + 1
    while after < len(tokens) and tokens[after].kind == "word" and not find_operator(tokens, after):
        after += 1
    if after > index + 1:
        end = tokens[after - 1].end
        return Correction(end, end, '"')
    before = index - 1
    while before >= 0 and tokens[before].kind == "word" and not find_operator(tokens, before):
        before -= 1
    if before < index - 1:
        start = tokens[before + 1].start
        return Correction(start, start, '"')
    return Correction(token.start, token.end, "")


def _find_end_of_quoted_tag(tokens: Sequence[QueryToken], index: int) -> int | None:
    """Return the index of the second quotation mark of `"sea ice[ti]"`, or None."""
    end = index + 1
    while tokens[index].kind == "quote" and end < len(tokens) and tokens[end].kind == "word":
        end += 1
    kinds = [token.kind for token in tokens[end : end + 2]]
    return end + 1 if end > index + 1 and kinds == ["tag", "quote"] else None


def _check_joined_operator(token: QueryToken) -> Iterator[QueryProblem]:
    correction = Correction(token.start, token.end, "AND NOT")
    yield QueryProblem("error", token.start, token.end, "ANDNOT is not an operator.", "Write AND NOT.", correction)


def _has_partner(text: str, position: int) -> bool:
    if text[position] == "[":
        end = text.find("]", position, position + 200)
        return end >= 0 and "[" not in text[position + 1 : end] and '"' not in text[position:end]
    start = text.rfind("[", max(position - 200, 0), position)
    return start >= 0 and "]" not in text[start:position] and '"' not in text[start:position]


def _warn(token: QueryToken, message: str, hint: str, text: str | None = None) -> QueryProblem:
    correction = None if text is None else Correction(token.start, token.end, text)
    return QueryProblem("warning", token.start, token.end, message, hint, correction)
