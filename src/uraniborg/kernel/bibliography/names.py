"""Split personal names into their parts, cite them in short, and read lists of authors from files of all kinds.

A comma decides: `Wang, Lei`. Without a comma BibTeX's rules apply (the family name is the last word, or the words
after a lower-case particle), except where the family name visibly comes first: before trailing initials
(`Schmidt KA`), in Chinese, Japanese and Korean script (`王 磊`), and in romanised Chinese and Korean names written
family-first (`Wang Lei`, `Park Ji-sung`). Groups (`ATLAS Collaboration`) are one name and are not split.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from uraniborg.kernel.bibliography.plain_text import clean_line, clean_scalar, fold_to_ascii, to_one_line

_GROUP = re.compile(
    r"&|\b(?:agency|alliance|and|association|cent(?:er|re)|collaboration|commission|committee|consortium|corporation|council|"
    r"department|federation|foundation|group|initiative|institut[eo]?|investigators|laborator(?:y|ies)|ministry|"
    r"network|organi[sz]ation|programme|project|society|team|universit(?:y|é|ät|à|at|ad|ade|a))\b",
    re.IGNORECASE,
)
_SUFFIX = re.compile(r"[JS]r\.?|II|III|IV")
_TEX = re.compile(r"[{}\\]")
_EAST_ASIAN_SCRIPT = re.compile(r"[\u3005\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003134f]")

_CHINESE = re.compile(
    "bai|cai|cao|chen|cheng|cui|deng|ding|dong|du|duan|fan|fang|feng|gao|gong|gu|guo|han|he|hou|hu|huang|"
    "jiang|kong|li|liang|liao|lin|liu|lu|luo|lyu|ma|mao|meng|pan|peng|qian|qin|qiu|ren|shao|shen|"
    "shi|song|su|sun|tan|tang|wan|wang|wu|xie|xiong|xu|yang|yao|ye|zeng|zhang|zhao|"
    "zheng|zhong|zhou|zhu|zou"
)
_KOREAN_OR_WADE_GILES = re.compile(
    "ahn|bae|chang|chen|chiu|cho|choi|chou|chu|chung|han|ho|hong|hsieh|hsu|huang|hwang|jang|jeon|jeong|jo|"
    "jung|kang|kim|ko|kuo|kwon|lai|lee|li|lim|lin|liu|moon|noh|oh|park|roh|ryu|seo|shin|sohn|son|song|suh|"
    "tsai|tseng|wang|wu|yang|yeh|yoo|yoon|yu|yun"
)
_PINYIN = re.compile(
    r"(?:(?:[zcs]h|[b-df-hj-np-tw-z])?(?:[iu]?ang|i?ong|eng|ing|uai|[iu]an|iao|ai|ei|ao|ou|an|en|i[aeun]|"
    r"u[aoien]|[aoeiu])|er){1,2}"
)
_SYLLABLE = r"[b-df-hj-np-tv-z]{0,3}[aeiouwy]{1,3}(?:ng|[hklmnprt])?"
_SYLLABLE_PAIR = re.compile(f"{_SYLLABLE}-{_SYLLABLE}")


@dataclass(frozen=True, slots=True)
class Name:
    """A name in parts. A name that cannot be split is all `family`."""

    family: str
    given: str = ""
    particle: str = ""
    suffix: str = ""

    @property
    def whole_family(self) -> str:
        """The family name with its particle, such as `van Dyke`."""
        return f"{self.particle} {self.family}".strip()

    @property
    def inverted(self) -> str:
        """The name with the family name first, such as `van Dyke, Jan`."""
        return ", ".join(part for part in (self.whole_family, self.given, self.suffix) if part)


@lru_cache(maxsize=16_384)
def split_name(name: str) -> Name:
    """Return the parts of a name; a name that follows no rule is all family name. Never raises."""
    from bibtexparser.middlewares.names import InvalidNameError, parse_single_name_into_parts  # slow to import

    text = to_one_line(name).strip(" ,")
    if _GROUP.search(text) and not _TEX.search(text):
        return Name(text)
    head, _, suffix = text.rpartition(" ")
    if _SUFFIX.fullmatch(suffix) and (" " in head or "," in head):
        text = head.rstrip(",")
    else:
        suffix = ""
    try:
        parts = parse_single_name_into_parts(_add_comma_after_leading_family(text))
    except InvalidNameError:
        return Name(text, suffix=suffix)
    return Name(
        family=" ".join(parts.last) or text,
        given=" ".join(parts.first),
        particle=" ".join(parts.von),
        suffix=suffix or " ".join(parts.jr),
    )


def _add_comma_after_leading_family(text: str) -> str:
    """Return `Family, Given` if the family name comes first without a comma; else the text as it is."""
    words = text.split()
    if len(words) < 2 or "," in text or _TEX.search(text):
        return text
    split_at = _count_leading_family_words(words)
    return f"{' '.join(words[:split_at])}, {' '.join(words[split_at:])}" if split_at else text


def _count_leading_family_words(words: list[str]) -> int:
    if _EAST_ASIAN_SCRIPT.search(words[0]):
        return 1
    initials_from = len(words)
    while initials_from > 1 and _is_initials(words[initials_from - 1]):
        initials_from -= 1
    if initials_from < len(words) and any(letter.islower() for letter in words[0]):
        return initials_from
    return int(_is_family_first_romanisation(words))


def _is_initials(word: str) -> bool:
    letters = word.replace(".", "").replace("-", "")
    if len(letters) > 3 or not letters.isalpha() or not letters.isupper():
        return False
    # A family name in capitals (`Mina LEE`) is not taken for initials.
    return len(letters) < 3 or not (
        _CHINESE.fullmatch(letters.lower()) or _KOREAN_OR_WADE_GILES.fullmatch(letters.lower())
    )


def _is_family_first_romanisation(words: list[str]) -> bool:
    first, *_, last = folded = [fold_to_ascii(word) for word in words]
    if _CHINESE.fullmatch(first) and not _CHINESE.fullmatch(last):
        return _PINYIN.fullmatch(re.sub(r"[-'’]", "", "".join(folded[1:]))) is not None
    if _KOREAN_OR_WADE_GILES.fullmatch(first) and not _KOREAN_OR_WADE_GILES.fullmatch(last):
        return len(words) == 2 and _SYLLABLE_PAIR.fullmatch(last) is not None
    return False


def format_short_authors(authors: Sequence[str]) -> str:
    """Return `Gillon`, `Gillon and Luger` or `Gillon et al.`; an empty text without authors."""
    named = [name for name in authors if name.strip()]
    families = [split_name(name).whole_family for name in named[:2]]
    return f"{families[0]} et al." if len(named) > 2 else " and ".join(families)


def format_short_citation(authors: Sequence[str], year: int | None) -> str:
    """Return `Gillon et al. (2017)`, or the authors if the year is not known; an empty text without authors."""
    named = format_short_authors(authors)
    return f"{named} ({year})" if named and year else named


def cite_paper(paper: Mapping[str, object]) -> str:
    """Return `Gillon et al. (2017)` for the metadata of a paper, or without authors its title in quotation marks."""
    authors = [name for name in cast("Iterable[object]", paper.get("authors") or ()) if isinstance(name, str)]
    year = cast("int | None", paper.get("year"))
    return format_short_citation(authors, year) or f"'{paper.get('title') or 'the paper'}'"


_MARKS = re.compile(r"[{}]|(?<=\s)and(?=\s)", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[A-Z]\.?-?){1,4}")
_LISTED_SUFFIX = re.compile(r"[JS]r\.?|[IVX]{1,4}", re.IGNORECASE)
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
    if len(rest) == 1 and _LISTED_SUFFIX.fullmatch(rest[0]):
        return f"{family} {rest[0]}"
    given, suffix = (
        (rest[0], rest[1:]) if len(rest) == 1 or not _LISTED_SUFFIX.fullmatch(rest[0]) else (rest[-1], rest[:-1])
    )
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
