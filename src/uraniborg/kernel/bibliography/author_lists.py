"""Read author lists from BibTeX fields, JSON, YAML and text as names in the usual order."""

import re
from functools import lru_cache
from typing import cast

from uraniborg.kernel.bibliography.clean_text import clean_line, clean_scalar

_MARKS = re.compile(r"[{}]|(?<=\s)and(?=\s)", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[A-Z]\.?-?){1,4}")
_SUFFIX = re.compile(r"[JS]r\.?|[IVX]{1,4}", re.IGNORECASE)
_BIBLATEX_PART = re.compile(r"\s*(family|given|prefix|suffix)(?:-i)?\s*=\s*", re.IGNORECASE)
_MAX_NAMES = 10_000


def read_bibtex_names(field: str) -> list[str]:
    """Return the names of a BibTeX author field, in order, decoded; leave out `and others`."""
    names = (read_bibtex_name(_strip_outer_and(name)) for name in split_at_and(field) if name != "others")
    return [name for name in names if name]


def split_at_and(field: str) -> list[str]:
    """Return the parts of a field between the words `and` outside braces, by BibTeX's rules."""
    field = field.strip()
    names: list[str] = []
    depth = start = 0
    for mark in _MARKS.finditer(field):
        if mark[0] == "{":
            depth += 1
        elif mark[0] == "}":
            depth = max(depth - 1, 0)
        elif depth == 0:
            names.append(field[start : mark.start()].strip())
            start = mark.end()
    names.append(field[start:].strip())
    return [name for name in names if name][:_MAX_NAMES]


@lru_cache(maxsize=65_536)
def read_bibtex_name(name: str) -> str:
    """Return a BibTeX name (`von Last, Jr, First`) in the order `First von Last Jr`, decoded."""
    from bibtexparser.middlewares.names import InvalidNameError, parse_single_name_into_parts

    from uraniborg.kernel.bibliography.latex import decode_latex

    if "," not in name:
        return clean_line(decode_latex(name))
    if _BIBLATEX_PART.match(name):
        return _read_biblatex_name(name)
    try:
        parts = parse_single_name_into_parts(name, strict=False)
    except InvalidNameError:
        return clean_line(decode_latex(name)).strip(" ,")
    words = (*parts.first, *parts.von, *parts.last, *parts.jr)
    return clean_line(decode_latex(" ".join(words))).strip(" ,")


def uninvert_name(name: str) -> str:
    """Return `Last, First, Jr.` as `First Last Jr.`; a name without a comma as it is."""
    text = clean_line(name)
    if "," not in text and ";" not in text:
        return text
    text = text.strip(" ,;")
    if "," not in text:
        return text
    family, *rest = (part.strip() for part in text.split(","))
    if len(rest) == 1 and _SUFFIX.fullmatch(rest[0]):
        return f"{family} {rest[0]}"
    given, suffix = (rest[0], rest[1:]) if len(rest) == 1 or not _SUFFIX.fullmatch(rest[0]) else (rest[-1], rest[:-1])
    return " ".join(part for part in (given, family, *suffix) if part)


def read_names(value: object) -> list[str]:
    """Return the names in a JSON or YAML value: a list of texts or objects, one object, or one text with separators."""
    if isinstance(value, str):
        return _parse_names_of_text(value)
    if isinstance(value, dict):
        value = [cast("object", value)]
    if not isinstance(value, list):
        return []
    items = cast("list[object]", value)
    names = [uninvert_name(item) if isinstance(item, str) else join_name_parts(item) for item in items]
    return [name for name in names if name]


def join_name_parts(value: object) -> str:
    """Return a name from an object with `name` or `literal`, or with given and family names in any usual notation."""
    if not isinstance(value, dict):
        return ""
    parts = cast("dict[str, object]", value)
    whole = parts.get("name") or parts.get("literal") or parts.get("full_name") or parts.get("display_name")
    if isinstance(whole, str):
        return uninvert_name(whole)
    if isinstance(whole, dict):
        return join_name_parts(
            {key: part for key, part in cast("dict[str, object]", whole).items() if isinstance(part, str)}
        )
    particle = clean_scalar(parts.get("non-dropping-particle") or parts.get("dropping-particle"))
    given = _find_part(parts, "given", "given-names", "given_names", "given_name", "first", "first_name", "firstName")
    family = _find_part(parts, "family", "surname", "family_name", "last", "last_name", "lastName")
    suffix = clean_scalar(parts.get("suffix"))
    return " ".join(part for part in (given, particle, family, suffix) if part)


def _find_part(parts: dict[str, object], *names: str) -> str:
    return next((text for name in names if (text := clean_scalar(parts.get(name)))), "")


def _parse_names_of_text(text: str) -> list[str]:
    text = clean_line(text)
    if ";" in text:
        names = [uninvert_name(name) for name in text.split(";")]
    elif " and " in text:
        names = [name for part in split_at_and(text) for name in _parse_comma_list_of_names(part)]
    else:
        names = _parse_comma_list_of_names(text)
    return [name for name in names if name and name != "others"][:_MAX_NAMES]


def _parse_comma_list_of_names(text: str) -> list[str]:
    """Return two names for `Ada Lovelace, Alan Turing`, and one for `Lovelace, Ada`."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) == 2 and (" " not in parts[0] or _INITIALS.fullmatch(parts[1].replace(" ", ""))):
        return [uninvert_name(text)]
    if (
        len(parts) > 2
        and len(parts) % 2 == 0
        and all(_INITIALS.fullmatch(part.replace(" ", "")) for part in parts[1::2])
    ):
        return [f"{given} {family}" for family, given in zip(parts[::2], parts[1::2], strict=True)]
    return parts


def _strip_outer_and(name: str) -> str:
    """Return a name without the `and` that a field started or ended with."""
    if name[:3].lower() == "and" and name[3:4].isspace():
        name = name[3:].strip()
    return name[:-3].strip() if name[-3:].lower() == "and" and name[-4:-3].isspace() else name


def _read_biblatex_name(name: str) -> str:
    """Return `Ludwig van Beethoven` for biblatex's `family=Beethoven, given=Ludwig, prefix=van`."""
    from uraniborg.kernel.bibliography.latex import decode_latex

    parts: dict[str, str] = {}
    for part in name.split(","):
        if match := _BIBLATEX_PART.match(part):
            parts.setdefault(match[1].lower(), part[match.end() :].strip(' "'))
    ordered = (parts.get(key, "") for key in ("given", "prefix", "family", "suffix"))
    return clean_line(decode_latex(" ".join(ordered)))
