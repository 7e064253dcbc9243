"""The type of a language's year rules, and the words that all languages share."""

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
"""Nouns before an age that is not the age of papers: "adults over 65 years"."""
