"""Clean a text before it is read: plain spelling, no Markdown and courtesies, placeholders for quotes.

Readers cut the words that they understand out of the text and leave `BREAK` behind, so that the words on either side of
a cut never form a phrase. One private character replaces each quoted phrase, so that no rule reads inside it.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from uraniborg.kernel.bibliography.identifiers import normalise_arxiv, normalise_doi
from uraniborg.kernel.language.phrase_files import BREAK, PLACEHOLDER, PhraseFile

_FIRST_PLACEHOLDER: Final = 0xE000
_MOST_CHARACTERS: Final = 4_000  # longer texts are cut here, so that reading takes bounded time
_REPLACED: Final = {"Cf": "", "Cc": " ", "Co": " "}
"""What replaces the characters of some Unicode categories: controls and private ones."""
_SIGNS: Final = str.maketrans("\u2010\u2011\u2012\u2212“”„‟″＂‹›‘’‚‛", '----""""""«»' + "'" * 4)
_STRAIGHT: Final = dict.fromkeys(map(ord, "“”„«»「」『』《》"), '"')
_PATTERNS: Final = PhraseFile("paper_search.domain.intent", "data/text_cleanup.txt").patterns
_COURTESIES: Final = PhraseFile("paper_search.domain.intent", "data/courtesies.txt")
_SENTENCE_END: Final = re.compile(rf"({BREAK}|(?<=[;!?])\s|(?<!\b[A-Z]\.)(?<=\.)\s)")


def cut_and_normalise_characters(text: str) -> str:
    """Return the text in compatibility form on one line, without controls or private characters."""
    folded = unicodedata.normalize("NFKC", text[:_MOST_CHARACTERS])[:_MOST_CHARACTERS]
    plain = (sign if sign in "\u200c\u200d" else _REPLACED.get(unicodedata.category(sign), sign) for sign in folded)
    return " ".join("".join(plain).split())


def replace_quoted_phrases(text: str) -> tuple[str, list[str]]:
    """Return the normalised text with a placeholder for each quoted phrase, and the phrases."""
    phrases: list[str] = []

    def replace_phrase(match: re.Match[str]) -> str:
        phrase = (match[1] or match[2] or "").strip(" ,.;:")
        if len(phrases) == 20 or not any(map(str.isalnum, phrase)):
            return f" {phrase} "
        phrases.append(phrase)
        return f" {make_placeholder(len(phrases) - 1)} "

    # Spaces around a placeholder would separate `author:"…"` and `-"…"`.
    marked = _PATTERNS["quoted"].sub(replace_phrase, text.translate(_STRAIGHT)).replace('"', " ")
    return " ".join(re.sub(rf"(^|[\s(])(-|\w+:) (?={PLACEHOLDER})", r"\1\2", marked).split()), phrases


def quote_identifiers(text: str) -> tuple[str, list[str]]:
    """Return the text with each DOI and arXiv id as a quoted phrase, and a note on each."""
    notes: list[str] = []
    for match in reversed(list(_PATTERNS["identifier"].finditer(text))):
        if known := normalise_doi(match[0]) if match["doi"] else normalise_arxiv(match[0]):
            text = f'{text[: match.start()]} "{known}" {text[match.end() :]}'
            notes.append(f"“{known}” identifies one paper and is searched as one term.")
    return text, notes[::-1]


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
    plain = _PATTERNS["fence"].sub("", text[: 2 * _MOST_CHARACTERS]).translate(_SIGNS)
    plain = _PATTERNS["dash"].sub(" - ", _PATTERNS["joining_dash"].sub("-", plain))
    plain = _PATTERNS["link"].sub(r"\g<text>", _PATTERNS["apostrophe"].sub("'", plain))
    for _ in range(2):  # ***bold italics*** and _**both**_ are nested
        plain = _PATTERNS["emphasis"].sub(lambda found: next(filter(None, found.groups())), plain)
    return _PATTERNS["bullet"].sub("; ", _join_lines(plain.splitlines())).strip("; ")


def repair_brackets(text: str) -> str:
    """Return the text without unpaired brackets; outside boolean queries a comma replaces them."""
    lonely: list[int] = []
    for opening, closing in ("()", "[]"):
        waiting: list[int] = []
        for position, sign in enumerate(text):
            if sign == closing and not waiting:
                lonely.append(position)
            elif sign == closing:
                waiting.pop()
            elif sign == opening:
                waiting.append(position)
        lonely += waiting
    instead = " " if re.search(r"\b(?:AND|OR|NOT)\b", text) else ", "
    closed = "".join(instead if position in lonely else sign for position, sign in enumerate(text))
    return re.sub(r"(?:,\s*){2,}", ", ", closed) if lonely else text


def _join_lines(lines: Sequence[str]) -> str:
    """Return the lines as one; a semicolon stands before items, behind headings and for blank lines and labels."""
    joined = ""
    breaks = True
    for line in lines:
        marker = _PATTERNS["marker"].match(line) if len(lines) > 1 or not line.lstrip()[:1].isdigit() else None
        rest = line[marker.end() :] if marker else line
        if not rest.strip() or (len(lines) > 1 and _COURTESIES.compile("labels").fullmatch(rest)):
            breaks = True
            continue
        joined += ("; " if breaks or marker else " ") + rest.strip()
        breaks = bool(marker and marker["heading"])
    return joined


def remove_courtesies(text: str) -> str:
    """Return the text without courtesies, requests and bare nouns for papers."""
    pieces = _SENTENCE_END.split(_COURTESIES.compile("inside").sub(BREAK, text))
    pieces[::2] = map(remove_openings_and_closings, pieces[::2])
    return _COURTESIES.compile("alone").sub(BREAK, f"{BREAK}{''.join(pieces)}{BREAK}")


def remove_openings_and_closings(sentence: str) -> str:
    """Return the sentence without the requests and courtesies at its beginning and its end."""
    closings = _COURTESIES.compile("closings", r"(?:[\s,;.]*{}[\s.!?]*)+$")
    openings = _COURTESIES.compile("openings", r"^(?:\s*{}(?!-\w))+")
    return openings.sub("", closings.sub("", sentence, count=1), count=1)
