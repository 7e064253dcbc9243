"""The words that decide whether a difference between two titles matters."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _numbered(text: str) -> dict[str, str]:
    return {word: str(number) for number, word in enumerate(text.split(), 1)}


FUNCTION_WORDS = _set("a an and as at by for from in is its of on or our pp some the their to using via")
FORMATS = _set("""
    abstract demo demonstration description draft experience extended full industrial invited keynote only panel paper
    poster preliminary preprint presentation report session short talk tutorial version
""")
"""What "(extended abstract)" and "(invited paper)" are made of: how a paper was presented, not what it is called."""

PART_WORDS = _set("book ch chapter episode issue lecture no number paper part phase pt section task unit vol volume")
"""What the number or letter of a part stands behind."""

FROM_ROMAN = _numbered("i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx")
FROM_SPELLED = _numbered("one two three four five six seven eight nine ten")
_ORDINAL_ENDINGS = {"1": "st", "2": "nd", "3": "rd"}
FROM_ORDINAL = {
    word: number + _ORDINAL_ENDINGS.get(number, "th")
    for word, number in _numbered("first second third fourth fifth sixth seventh eighth ninth tenth").items()
}

ABOUT_ANOTHER = _set("""
    addendum appendix comment commentary comments corrected correction corrections corrigenda corrigendum discussion
    editor editorial editors errata erratum foreword guest preface rebuttal rejoinder replies reply response retracted
    retraction review summary supplement supplementary withdrawn
""")
"""What makes a paper one about another paper."""

TURNS_AROUND = _set("anti bi co cross inter intra multi no non not post pre self semi sub super un without")
"""What makes a title say something else although little is added: "semi-supervised" is not "supervised"."""

GENERIC = ABOUT_ANOTHER | _set("""
    abstract abstracts acknowledgement acknowledgements acknowledgment acknowledgments afterword announcement
    announcements author authors available back backmatter bibliography board book books calendar chair chairs column
    conclusion conclusions contents correspondence cover editorials epilogue front frontmatter glossary highlights index
    introduction introductory issue keynote keyword letter letters list masthead matter memoriam message news no none
    not note notes obituary page panel poster posters prologue references referees remarks reviewers reviews session
    special subject table this title tutorial tutorials unknown untitled welcome
""")
"""What titles that many papers share are made of."""

VENUE_WORDS = _set("acm annual ieee international intl proc proceedings series vol volume")
"""What tells one venue from another as little as function words do."""

NO_NAME = _set("ed editor editors eds ii iii iv jr md others phd sr")
GROUP_WORDS = _set("collaboration committee consortium group investigators network team")
