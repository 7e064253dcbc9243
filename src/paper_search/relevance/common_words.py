"""Words that any field's papers and questions are full of, and that therefore say little about a topic."""

from functools import lru_cache

from paper_search.text import extract_terms

_COMMON = """
able achieve achieved across actual addition additional address affect aim allow analysis analyze application apply
approach area article aspect associated available average based basic become best better call capable case cause cent
change characteristic combine common compare comparison complete complex concern conclusion condition conduct consider
consist consistent contain correspond current deal decrease define degree demonstrate depend derive describe detail
determine develop development different difference discuss early easy effect effective enable error establish estimate
evaluate evaluation evidence examine example exist experiment experimental explain extend extensive fact factor field
final find finding first focus follow form found four full function further future general give given good great group
help high higher identify illustrate implement important improve improvement include increase indicate individual
influence interest interested introduce investigate investigation involve issue key kind know known lack large late
lead less level like limit limited long low lower main major make mean measure measurement mechanism method
modern multiple nature necessary need new normal novel number observe obtain occur order overall paper part particular
performance perform point possible potential practical presence present previous problem procedure process produce
property propose proposed provide publication purpose question range rate recent reduce refer regard region related
relation relationship remain report represent require research respect result review role scale second section select
set several short show significant similar simple single size small solution source specific standard state strong
structure study subject substantial success successful suggest suitable system take technique term test theory three
time total true two type understand understanding use useful utilize value various view way well wide work year
"""


@lru_cache(maxsize=1)
def common_terms() -> frozenset[str]:
    """The stems of those words."""
    return frozenset(extract_terms(_COMMON))
