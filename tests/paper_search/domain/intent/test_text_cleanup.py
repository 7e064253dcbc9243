"""Markdown, typographic signs and brackets in a query."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_search.domain.intent.text_cleanup import remove_markdown, repair_brackets


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- ice\n- snow", "ice; snow"),
        ("* ice\n+ snow\n• hail", "ice; snow; hail"),
        ("1. ice\n2) snow", "ice; snow"),
        ("- [ ] ice\n- [x] snow", "ice; snow"),
        ("ice • snow", "ice; snow"),
        ("# Ice\n\nand snow", "Ice; and snow"),
        ("## Topic\nice\n## Limits\nsince 2019", "ice; since 2019"),
        ("> ice", "ice"),
        ("> 2018 ice", "> 2018 ice"),
        (">= 2018", ">= 2018"),
        ("**ice** and *snow* and ***hail***", "ice and snow and hail"),
        ("__ice__ and _snow_", "ice and snow"),
        ("`ice` and ~~snow~~", "ice and snow"),
        ("[ice](https://example.org/x) ![snow](y.png)", "ice snow"),
        ("```\nice\n```", "ice"),
        ("black\nice", "black ice"),
        ("ice\n\nsnow", "ice; snow"),
        ("1990 ice", "1990 ice"),
        ("3. Generation", "3. Generation"),
        ("A* search, comput* AND x*y*z", "A* search, comput* AND x*y*z"),
        ("snake_case_names", "snake_case_names"),
        ("-survey ice", "-survey ice"),
        ("TRAPPIST\u20101, Na\u2011ion, sodium\u2012ion, 5\u22123", "TRAPPIST-1, Na-ion, sodium-ion, 5-3"),
        ("Michaelis\u2013Menten 2010\u20132015", "Michaelis-Menten 2010-2015"),
        ("ice\u2014snow \u2015 hail 2010 \u2014 2015", "ice - snow  -  hail 2010-2015"),
        ("\u201cice\u201d \u201esnow\u201c \u201fhail\u201d \u2039frost\u203a", '"ice" "snow" "hail" «frost»'),
        ("Alzheimer\u2019s", "Alzheimer's"),
        ("", ""),
    ],
)
def test_markup_is_folded(text: str, expected: str) -> None:
    assert remove_markdown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ice (snow)", "ice (snow)"),
        ("ice (snow", "ice , snow"),
        ("ice) snow", "ice,  snow"),
        ("((ice) snow", ", (ice) snow"),
        ("[ice (snow]", "[ice , snow]"),
        ("(ice AND snow", " ice AND snow"),
        ("exoplanets (2015", "exoplanets , 2015"),
        ("exoplanets (2015-2018; transits", "exoplanets , 2015-2018; transits"),
        ("exoplanets (2015, transits (hot))", "exoplanets (2015, transits (hot))"),
    ],
)
def test_unpaired_brackets_are_removed(text: str, expected: str) -> None:
    assert repair_brackets(text) == expected


@given(st.text(alphabet="()[] ab*_`#>-\n–“", max_size=80))
def test_folding_never_raises_and_leaves_balanced_brackets(text: str) -> None:
    folded = repair_brackets(remove_markdown(text))
    assert folded.count("(") == folded.count(")")
    assert repair_brackets(folded) == folded
