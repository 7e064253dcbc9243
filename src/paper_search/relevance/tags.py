"""Which kind of paper it is, from the words that papers of each kind use of themselves."""

from paper_search.models import PaperTag, Work, WorkType
from paper_search.relevance.pool import MAX_BODY, MAX_TITLE, body_text
from paper_search.text import fold, words

_TITLE_WORDS = {
    PaperTag.METHOD: "method methods algorithm algorithms framework approach approaches architecture technique",
    PaperTag.REVIEW: "survey review reviews overview tutorial roadmap perspective perspectives",
    PaperTag.EMPIRICAL: "empirical experiment experiments experimental trial trials cohort observational",
    PaperTag.THEORETICAL: "theory theories theorem theorems theoretical proof proofs bound bounds axioms conjecture",
    PaperTag.DATASET: "dataset datasets database corpus corpora benchmark benchmarks benchmarking",
}
_BODY_PHRASES = {
    PaperTag.METHOD: "we propose|we develop|we introduce|we devise|is proposed|are proposed|new method|novel method"
    "|new algorithm|novel algorithm|new approach|novel approach|proposed method|proposed approach|proposed model"
    "|new technique|novel technique|novel framework|new framework|new model|novel model",
    PaperTag.REVIEW: "we survey|we review|this survey|this review|systematic review|is reviewed|are reviewed"
    "|meta-analysis|literature review|we summarize|we summarise",
    PaperTag.EMPIRICAL: "we measured|we observed|we evaluated|we evaluate|we conduct|we tested|experimental results"
    "|our experiments|experiments show|experiments on|randomized|randomised|participants|empirical|p < 0.|p<0.",
    PaperTag.THEORETICAL: "we prove|we derive|theorem|upper bound|lower bound|is proved|are proved|proof of|is derived",
    PaperTag.DATASET: "new dataset|novel dataset|new corpus|new benchmark|novel benchmark|large-scale dataset"
    "|annotated corpus|annotated dataset|publicly available dataset|benchmark dataset|we release"
    "|dataset of|data set of|corpus of",
}
_IN_TITLE = {tag: frozenset(listed.split()) for tag, listed in _TITLE_WORDS.items()}
_IN_BODY = {tag: tuple(listed.split("|")) for tag, listed in _BODY_PHRASES.items()}


def tags_of(paper: Work) -> list[PaperTag]:
    """The kinds a paper shows signs of, in the order of `PaperTag`; none when it shows none."""
    title = set(words(paper.title[:MAX_TITLE]))
    body = fold(body_text(paper)[:MAX_BODY])
    return [
        tag
        for tag in PaperTag
        if title & _IN_TITLE[tag]
        or any(phrase in body for phrase in _IN_BODY[tag])
        or (tag is PaperTag.DATASET and paper.work_type is WorkType.DATASET)
    ]
