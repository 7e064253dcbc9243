"""Which kind of paper it is, from the words papers of each kind use of themselves."""

import re

from paper_search.models import PaperTag, Work, WorkType
from paper_search.relevance.pool import MAX_BODY, MAX_TITLE, body_text

_IN_TITLE = {
    PaperTag.REVIEW: r"\b(?:survey|review|overview|tutorial|state of the art|meta-analys[ie]s|roadmap|perspectives?)\b",
    PaperTag.DATASET: r"\b(?:data ?sets?|databases?|corpus|corpora|benchmarks?|benchmarking|data collection)\b",
    PaperTag.THEORETICAL: r"\b(?:theor(?:y|ies|ems?|etical)|proofs?|bounds?|axioms?|conjectures?|complexity of)\b",
    PaperTag.EMPIRICAL: r"\b(?:empirical|experiment(?:s|al)?|trials?|case study|cohort|observational|comparative study)\b",
    PaperTag.METHOD: r"\b(?:methods?|algorithms?|framework|approach|architecture|techniques?|procedure)\b",
}
_IN_BODY = {
    PaperTag.REVIEW: r"\bwe (?:survey|review|summari[sz]e)\b|\bthis (?:survey|review)\b|\bis reviewed\b|\bare reviewed\b"
    r"|\bsystematic(?:ally)? review\b|\bmeta-analysis of\b",
    PaperTag.DATASET: r"\b(?:new|novel|large[- ]scale|public(?:ly available)?|annotated) (?:\w+ ){0,3}?(?:data ?set|corpus|benchmark|database)\b"
    r"|\bwe (?:release|introduce|present|collect|construct|annotate) (?:\w+ ){0,6}?(?:data ?sets?|corpus|benchmarks?|database)\b",
    PaperTag.THEORETICAL: r"\bwe (?:prove|derive)\b|\btheorems?\b|\b(?:upper|lower) bounds?\b|\bis proved\b|\bare proved\b|\bproof of\b",
    PaperTag.EMPIRICAL: r"\bwe (?:measured?|observed?|evaluated?|conduct(?:ed)?|test(?:ed)?)\b|\bexperiment(?:s|al results?)\b"
    r"|\bp ?[<=] ?0?\.\d|\brandomi[sz]ed\b|\bparticipants\b|\bempirical(?:ly)?\b",
    PaperTag.METHOD: r"\bwe (?:propose|develop(?:ed)?|introduce|design(?:ed)?|devise)\b|\b(?:is|are) proposed\b"
    r"|\b(?:new|novel|proposed) (?:\w+ ){0,2}?(?:method|algorithm|approach|model|framework|technique|architecture)\b",
}
_TITLE_SIGNS = {tag: re.compile(pattern) for tag, pattern in _IN_TITLE.items()}
_BODY_SIGNS = {tag: re.compile(pattern) for tag, pattern in _IN_BODY.items()}
