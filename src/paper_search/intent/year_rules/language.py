"""What a language's rules are made of, and the words that all languages share."""

from dataclasses import dataclass

Rule = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Language:
    """The rules of one language, tried in order."""

    rules: tuple[Rule, ...]
    unwanted: str
    excluded: str
    cues: str
    """Words without which none of the rules applies."""


THINGS = (
    r"(?:papers?|articles?|publications?|stud(?:y|ies)|works?|literature|results|records|research|arbeit(?:en)?|artikel[ns]?"
    r"|studien?|publikationen|veröffentlichungen|aufsätze|literatur|études?|travaux|papiers|ouvrages|artículos?|trabajos?"
    r"|estudios?|publicaciones|literatura|artigos?|trabalhos?|estudos?|publicações)"
)
"""Nouns for publications of any kind."""
PAPERS = rf"(?:{THINGS}|preprints?|surveys?|reviews?)"
CJK_PAPERS = r"(?:的|の)?(?:论文|文献|文章|研究|資料|论著|論文|文獻)"

_NUMBERS = """
2 两 zwei deux dos dois duas      3 drei trois tres três          4 vier quatre cuatro quatro
5 fünf cinq cinco                 6 sechs six seis                7 sieben sept siete sete
8 acht huit ocho oito             9 neun neuf nueve nove          10 zehn dix diez dez
12 zwölf douze doce doze          15 十五 fünfzehn quinze quince  20 二十 zwanzig vingt veinte vinte
30 三十 dreißig trente treinta trinta                             50 五十 fünfzig cinquante cincuenta cinquenta
"""


def _numbers() -> dict[str, int]:
    values = dict(zip("一二三四五六七八九十", range(1, 11), strict=True))
    value = 1
    for word in _NUMBERS.split():
        if word.isascii() and word.isdigit():
            value = int(word)
        else:
            values[word] = value
    return values


NUMBERS = _numbers()
"""Numbers as words, beside the English ones."""

DECADES = {"fifties": "1950", "sixties": "1960", "seventies": "1970", "eighties": "1980", "nineties": "1990"}

UNITS = {
    "year": r"years?|yrs?|jahre?n?|ann?(?:[ée]e)?s|ans?|années?|años?|anos?|年度?",
    "decade": r"decades?|jahrzehnte?n?|décennies?|décadas?",
    "month": r"months?|monate?n?|mois|mes(?:es)?|mês|个月|[かヶカヵケ]月",
    "century": r"century",
}
_SINGULAR = "year yr jahr an année año ano decade jahrzehnt décennie década month monat mois mes mês"
SINGULAR = frozenset(_SINGULAR.split())

_POPULATIONS = """
adult adults patient patients people children child infants kids babies women men boys girls persons individuals
subjects participants teenagers adolescents elderly seniors mice rats animals trees stars galaxies buildings samples
dogs cats cows workers drivers students residents survivors athletes aged age fossils rocks wines cars houses systems
devices cells cohorts kinder patienten erwachsene enfants adultes niños niñas pacientes adultos crianças
"""
POPULATIONS = frozenset(_POPULATIONS.split())
"""Words before an age that is theirs, not the papers'."""
