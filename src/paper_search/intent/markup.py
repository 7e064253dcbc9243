"""Folds Markdown, typographic signs and brackets that do not close, so that every rule reads one plain spelling."""

import re

_LONGEST = 10_000
_HYPHENS = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2212"), "-")
_QUOTES = str.maketrans("“”„‟″＂‹›‘’‚‛", '""""""«»' + "'" * 4)
_DASH = re.compile(r"(?<=[0-9])[ \t]*[–—―]+[ \t]*(?=[0-9])|(?<=\w)–(?=\w)|[–—―]+")
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
_OPEN_YEAR = re.compile(
    r"\(\s*(?P<years>(?:1[6-9]|2[01])[0-9]{2}(?:\s*-\s*(?:1[6-9]|2[01])[0-9]{2})?)(?=\s*(?:$|[,;.!?](?:\s|$)))"
)
_BRACKETS = {")": "(", "]": "["}


def fold_markup(text: str) -> str:
    """Return the text without Markdown, its dashes and quotes in one spelling, list items parted by semicolons."""
    plain = _DASH.sub(_fold_dash, _FENCE.sub("", text[:_LONGEST]).translate(_HYPHENS).translate(_QUOTES))
    plain = _LINK.sub(r"\g<text>", _APOSTROPHE.sub("'", plain))
    for _ in range(2):  # ***bold italics*** and _**both**_ are nested
        plain = _EMPHASIS.sub(lambda found: next(inner for inner in found.groups() if inner is not None), plain)
    return _BULLET_INSIDE.sub("; ", _join_lines(plain.splitlines())).strip("; ")


def close_brackets(text: str) -> str:
    """Return the text without brackets that have no partner; outside boolean queries a comma parts what they parted.

    A year that a bracket opens at the end of a clause gets its closing bracket: "exoplanets (2015".
    """
    waiting: dict[str, list[int]] = {opening: [] for opening in _BRACKETS.values()}
    lonely: set[int] = set()
    for position, sign in enumerate(text):
        if sign in waiting:
            waiting[sign].append(position)
        elif sign in _BRACKETS:
            if partners := waiting[_BRACKETS[sign]]:
                partners.pop()
            else:
                lonely.add(position)
    years = {year.start(): year.end() for year in _OPEN_YEAR.finditer(text)}
    closings = {years[position] - 1 for position in waiting["("] if position in years}
    lonely.update(position for positions in waiting.values() for position in positions if position not in years)
    if not lonely and not closings:
        return text
    instead = " " if _OPERATOR.search(text) else ", "
    closed = "".join(
        (instead if position in lonely else sign) + ")" * (position in closings) for position, sign in enumerate(text)
    )
    return _COMMAS.sub(", ", closed)


def _fold_dash(found: re.Match[str]) -> str:
    """Return a hyphen inside a range or a compound, else a dash that stands alone."""
    before, after = found.string[found.start() - 1 : found.start()], found.string[found.end() : found.end() + 1]
    joins = (before.isdigit() and after.isdigit()) or (found[0] == "–" and before.isalnum() and after.isalnum())
    return "-" if joins else " - "


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
