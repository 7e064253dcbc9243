"""Text clean-up before a query is read: plain spelling without Markdown, and placeholders for quoted phrases.

Readers cut the words that they understand out of the text and leave `BREAK` behind, so that the words on either side of
a cut never form a phrase. One private character replaces each quoted phrase, so that no rule reads inside it.
"""

import re
import unicodedata
from collections.abc import Sequence

from uraniborg.kernel.phrase_files import PLACEHOLDER

_FIRST_PLACEHOLDER = 0xE000
MAX_PHRASES = 20
MAX_CHARACTERS = 4_000
"""Longer texts are cut here, so that reading takes bounded time."""
_QUOTED = re.compile(
    r'"([^"\n]*)"|“([^“”\n]*)”|„([^„“”\n]*)[“”]|«([^«»\n]*)»|「([^「」\n]*)」|『([^『』\n]*)』|《([^《》\n]*)》'
    r"|(?<![\w'’])['‘]([^\W_][^'‘’\n]*[^\W_])['’](?![\w'’])"
)
_STRAY_QUOTES = re.compile(r'["“”„«»「」『』《》]')
_JOINERS = "\u200c\u200d"
_LONGEST = 10_000
_HYPHENS = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2212"), "-")
_QUOTES = str.maketrans("“”„‟″＂‹›‘’‚‛", '""""""«»' + "'" * 4)
_JOINING_DASH = re.compile(r"(?<=[0-9])[ \t]*[–—―]+[ \t]*(?=[0-9])|(?<=[^\W_])–(?=[^\W_])")
_DASH = re.compile(r"[–—―]+")
_APOSTROPHE = re.compile(r"(?<=\w)ʼ(?=\w)")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_LINK = re.compile(r"!?\[(?P<text>[^\[\]\n]{1,300})\]\([^()\s]{1,500}\)")
_EMPHASIS = re.compile(
    r"(?<![\w*])\*{1,3}(?=[^\s*])(?P<star>[^*\n]{1,300})(?<=\S)\*{1,3}(?![\w*])"
    r"|(?<!\w)_{1,3}(?=[^\s_])(?P<line>[^_\n]{1,300})(?<=\S)_{1,3}(?!\w)"
    r"|(?<!~)~~(?P<struck>[^~\n]{1,300})~~|`+(?P<code>[^`\n]{1,300})`+"
)
_MARKER = re.compile(
    r"\s*(?:(?P<heading>\#{1,6})\s+|(?:>(?!\s*=?\s*[0-9])\s*)+|(?:[-*+•‣◦▪·](?:\s+\[[ xX]\])?|[0-9]{1,2}[.)])\s+)+"
)
_LABEL = re.compile(
    r"(?:search\s+)?(?:topics?|quer(?:y|ies)|subjects?|keywords?|questions?|limits?|filters?|constraints?|wishes|preferences"
    r"|dates?|years?|notes?|task|goal|requests?|search|requirements?|criteria|scope|background)\s*:?\s*",
    re.IGNORECASE,
)
_BULLET_INSIDE = re.compile(r"\s*[•‣◦▪]\s*")
_COMMAS = re.compile(r"(?:,\s*){2,}")
_OPERATOR = re.compile(r"\b(?:AND|OR|NOT)\b")
_BRACKETS = {")": "(", "]": "["}


def normalise_text(text: str) -> str:
    """Return the text in compatibility form on one line, without controls, lone surrogates or private characters."""
    folded = unicodedata.normalize("NFKC", text[:MAX_CHARACTERS])[:MAX_CHARACTERS]
    return " ".join("".join(map(_replace_unprintable, folded)).split())


def _replace_unprintable(character: str) -> str:
    kind = unicodedata.category(character)
    if kind == "Cf":
        return character if character in _JOINERS else ""
    return " " if kind in {"Cc", "Cs", "Co"} else character


def replace_quoted_phrases(text: str) -> tuple[str, list[str]]:
    """Return the normalised text with a placeholder for each quoted phrase, and the phrases."""
    phrases: list[str] = []

    def replace_phrase(match: re.Match[str]) -> str:
        phrase = next(group for group in match.groups() if group is not None).strip(" ,.;:")
        if len(phrases) == MAX_PHRASES or not any(map(str.isalnum, phrase)):
            return f" {phrase} "
        phrases.append(phrase)
        return f" {make_placeholder(len(phrases) - 1)} "

    # Spaces around a placeholder would separate `author:"…"` and `-"…"`.
    marked = re.sub(r"(^|[\s(])(-|\w+:) (?=" + PLACEHOLDER + ")", r"\1\2", _QUOTED.sub(replace_phrase, text))
    return " ".join(_STRAY_QUOTES.sub(" ", marked).split()), phrases


def make_placeholder(index: int) -> str:
    """Return the private character that replaces the phrase with this index."""
    return chr(_FIRST_PLACEHOLDER + index)


def restore_phrases(text: str, phrases: Sequence[str]) -> str:
    """Return the text with the phrases in place of their placeholders."""
    return re.sub(PLACEHOLDER, lambda match: phrases[ord(match[0]) - _FIRST_PLACEHOLDER], text)


def tidy_punctuation(text: str) -> str:
    """Return the text on one line, without breaks and the punctuation that cuts left behind."""
    line = re.sub(r"\s+([,;:.!?)\]])", r"\1", " ".join(text.split()))
    line = re.sub(r"(?<=[(\[])\s+", "", line)
    line = re.sub(r"\(\s*\)|\[\s*\]", " ", line)
    line = re.sub(r"([,;:])(?:\s*[,;:.!?])+", r"\1", line)
    return " ".join(line.split()).lstrip(" ,;:!?)-–—、。").rstrip(" ,;:.!?(-–—、。")


def remove_markdown(text: str) -> str:
    """Return the text without Markdown, dashes and quotes in one spelling, list items separated by semicolons."""
    plain = _FENCE.sub("", text[:_LONGEST]).translate(_HYPHENS).translate(_QUOTES)
    plain = _DASH.sub(" - ", _JOINING_DASH.sub("-", plain))
    plain = _LINK.sub(r"\g<text>", _APOSTROPHE.sub("'", plain))
    for _ in range(2):  # ***bold italics*** and _**both**_ are nested
        plain = _EMPHASIS.sub(lambda found: next(inner for inner in found.groups() if inner is not None), plain)
    return _BULLET_INSIDE.sub("; ", _join_lines(plain.splitlines())).strip("; ")


def repair_brackets(text: str) -> str:
    """Return the text without unpaired brackets; outside boolean queries a comma replaces them."""
    waiting: dict[str, list[int]] = {opening: [] for opening in _BRACKETS.values()}
    lonely: set[int] = set()
    for position, sign in enumerate(text):
        if sign in waiting:
            waiting[sign].append(position)
        elif sign in _BRACKETS and waiting[_BRACKETS[sign]]:
            waiting[_BRACKETS[sign]].pop()
        elif sign in _BRACKETS:
            lonely.add(position)
    lonely.update(*waiting.values())
    instead = " " if _OPERATOR.search(text) else ", "
    closed = "".join(instead if position in lonely else sign for position, sign in enumerate(text))
    return _COMMAS.sub(", ", closed) if lonely else text


def _join_lines(lines: list[str]) -> str:
    joined = ""
    breaks = True
    for line in lines:
        marker = _MARKER.match(line) if len(lines) > 1 or not line.lstrip()[:1].isdigit() else None
        rest = line[marker.end() :] if marker else line
        if not rest.strip() or (len(lines) > 1 and _LABEL.fullmatch(rest)):
            breaks = True
            continue
        joined += ("; " if breaks or marker else " ") + rest.strip()
        breaks = bool(marker and marker["heading"])
    return joined
