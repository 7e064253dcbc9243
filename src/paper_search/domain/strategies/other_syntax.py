"""Find the syntax of databases whose strategies are not read."""

import re
from typing import Final

from paper_search.domain.strategies.findings import QueryProblem

_FIELDS_OF_OVID: Final = r"\.(?:ab|fs|hw|kf|kw|lg|mp|pt|sh|ti|tw)(?:,[a-z]{2})*\."
_NEAR: Final = 500
"""Characters between two parts of a sign: without a limit, a long text would take seconds."""
_SIGNS: Final = {
    "Ovid": re.compile(
        r"(?<!/)\bexp \*?\"?[A-Z][^\n/\"]{1,80}\"?/"
        r"|^[ \t]*#?\d+[.)]?[ \t]+\*?[A-Z][^\n/\"()]{2,80}/(?!\w{3}|[A-Z])"
        rf"|{_FIELDS_OF_OVID}[\s)]+(?:and|or|not)\b|\b(?:and|or|not|adj\d)\s[^\n.]{{0,{_NEAR}}}{_FIELDS_OF_OVID}"
        r"|\blimit #?\d+ to\b(?! \d)|\(sa_year\)",
        re.MULTILINE,
    ),
    "Embase": re.compile(r"'/(?:exp|de|mj)\b|\w/(?:exp|mj)\b|\[[\w -]+\]/(?:py|lim)\b"),
    "the Cochrane Library": re.compile(r"\bMeSH descriptor:|\[mh [\"^]"),
    "Embase or the Cochrane Library": re.compile(
        r"'?:(?:ab|de|it|kw|pt|ti|tt)(?:,[a-z]{2})*\b(?=[\s)]+(?:AND|OR|NOT)\b|[\s)]*$)"
    ),
    "Scopus": re.compile(
        r"\b(?:INDEXTERMS|DOCTYPE|LANGUAGE)\s?\(|\bPUBYEAR\s?[<>]"
        rf"|\bTITLE[\w-]{{0,20}}\([^)]{{0,{_NEAR}}}\b(?:W|PRE)/\d"
    ),
    "Web of Science": re.compile(rf"\b(?:PY|LA|DT)\s?=\s?\(|\b(?:AB|AK|ALL|TI|TS)\s?=\s?\([^\n]{{0,{_NEAR}}}\bNEAR/\d"),
}
"""What neither PubMed nor plain words have, by database."""
_HINT: Final = 'Write the strategy for PubMed, for example "Asthma"[Mesh] OR asthma*[tiab].'


def find_other_syntax(text: str) -> QueryProblem | None:
    """Return an error at the first part of a text in the syntax of another database, if there is one."""
    for name, sign in _SIGNS.items():
        if match := sign.search(text):
            message = f"This is the syntax of {name}, which is not read."
            return QueryProblem("error", match.start(), match.end(), message, _HINT)
    return None
