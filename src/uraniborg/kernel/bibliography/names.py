"""Split personal names into family name, given names, particle and suffix.

A comma decides: `Wang, Lei`. Without a comma BibTeX's rules apply (the family name is the last word, or the words
after a lower-case particle), except where the family name visibly comes first: before trailing initials
(`Schmidt KA`), in Chinese, Japanese and Korean script (`王 磊`), and in romanised Chinese and Korean names written
family-first (`Wang Lei`, `Park Ji-sung`). Groups (`ATLAS Collaboration`) are one name and are not split.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from bibtexparser.middlewares.names import InvalidNameError, parse_single_name_into_parts

from uraniborg.kernel.bibliography.one_line_text import fold_to_ascii, to_one_line

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
