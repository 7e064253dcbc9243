"""Difficult strategies in the syntax of PubMed, each with what PubMed reads: written with brackets, on one line."""

DIFFICULT: dict[str, tuple[str, str]] = {
    "operators from left to right": (
        "gout[ti] OR hyperuricemia[ti] AND cherries[tiab] NOT rats[ti] OR allopurinol[ti]",
        "((gout[ti] OR hyperuricemia[ti]) AND cherries[tiab] NOT rats[ti]) OR allopurinol[ti]",
    ),
    "numbered lines with hashes": (
        '#1 "Gout"[Mesh]\n#2 gout*[tiab]\n#3 #1 OR #2\n#4 cherr*[tiab]\n#5 #3 AND #4',
        '("Gout"[Mesh] OR gout*[tiab]) AND cherr*[tiab]',
    ),
    "numbered lines in reverse order, as a history shows them": (
        "4. 3 AND 2020:2024[dp]\n3. 1 or 2\n2. gout[tiab]\n1. Gout[mh]",
        "(Gout[mh] OR gout[tiab]) AND 2020:2024[dp]",
    ),
    "or/1-3": (
        "1. Gout[mh:noexp]\n2. gout[tiab]\n3. podagra[tiab]\n4. or/1-3\n5. cherr*[tiab]\n6. 4 and 5",
        "(Gout[mh:noexp] OR gout[tiab] OR podagra[tiab]) AND cherr*[tiab]",
    ),
    "a last line without a number": (
        "#1 gout[ti] OR podagra[ti]\n#2 cherries[ti]\n#3 review[pt]\n(#1 AND #2) NOT #3",
        "(gout[ti] OR podagra[ti]) AND cherries[ti] NOT review[pt]",
    ),
    "lines that go on": (
        "#1 gout[ti] OR\npodagra[ti]\n#2 cherries[ti]\nOR berries[ti]\n#3 #1 AND #2",
        "(gout[ti] OR podagra[ti]) AND (cherries[ti] OR berries[ti])",
    ),
    "brackets six deep": (
        "(((((( gout[ti] ) OR a[ti]) AND b[ti]) OR c[ti]) AND d[ti]) OR e[ti])",
        "((((gout[ti] OR a[ti]) AND b[ti]) OR c[ti]) AND d[ti]) OR e[ti]",
    ),
    "a filter for randomised trials": (
        "(randomized controlled trial[pt] OR controlled clinical trial[pt] OR randomized[tiab] OR placebo[tiab] OR "
        "clinical trials as topic[mesh:noexp] OR randomly[tiab] OR trial[ti]) NOT (animals[mh] NOT humans [mh])",
        "(randomized controlled trial[pt] OR controlled clinical trial[pt] OR randomized[tiab] OR placebo[tiab] OR "
        "clinical trials as topic[mesh:noexp] OR randomly[tiab] OR trial[ti]) NOT (animals[mh] NOT humans[mh])",
    ),
    "operators in lower case after tags and brackets": (
        "gout[mh] and (cherries[tiab] or berries[tiab]) not (Animals[Mesh] not (Animals[Mesh] and Humans[Mesh]))",
        "gout[mh] AND (cherries[tiab] OR berries[tiab]) NOT (Animals[Mesh] NOT (Animals[Mesh] AND Humans[Mesh]))",
    ),
    "and inside a term": (
        'prevention and control[sh] AND "Wounds and Injuries"[Mesh]',
        'prevention and control[sh] AND "Wounds and Injuries"[Mesh]',
    ),
    "curly quotation marks, mixed with straight ones": (
        '“sham treatment”[tiab] OR “No treatment"[tiab] OR „placebo“[tiab]',
        '"sham treatment"[tiab] OR "No treatment"[tiab] OR "placebo"[tiab]',
    ),
    "no spaces around operators": (
        '("Gout"[Mesh]OR podagra[tiab])AND(cherry[tiab]OR"tart cherry"[tiab])',
        '("Gout"[Mesh] OR podagra[tiab]) AND (cherry[tiab] OR "tart cherry"[tiab])',
    ),
    "a missing operator": (
        "atonic[tiab] impaired[tiab] OR weak[tiab]",
        "(atonic[tiab] AND impaired[tiab]) OR weak[tiab]",
    ),
    "long names of fields, with spaces before the tag": (
        'gout [Title/Abstract] OR "Gout" [MeSH Terms] OR febuxostat [Supplementary Concept] OR x [All Fields]',
        'gout[Title/Abstract] OR "Gout"[MeSH Terms] OR febuxostat[Supplementary Concept] OR x[All Fields]',
    ),
    "a range of dates with long names": (
        'gout[tw] AND ("2000/01/01"[Date - Publication] : "3000"[Date - Publication])',
        'gout[tw] AND "2000/01/01"[Date - Publication] : "3000"[Date - Publication]',
    ),
    "ranges of years": (
        "gout[tw] AND (2010:2020[dp] OR 1999/06/30:1999/12[edat] OR 1990 : 1995[pdat])",
        "gout[tw] AND (2010:2020[dp] OR 1999/06/30:1999/12[edat] OR 1990 : 1995[pdat])",
    ),
    "subheadings": (
        '"Gout/drug therapy"[Mesh] OR "Gout/diet therapy"[Majr:NoExp] OR gout/pc [mh]',
        '"Gout/drug therapy"[Mesh] OR "Gout/diet therapy"[Majr:NoExp] OR gout/pc[mh]',
    ),
    "words at a distance": (
        '"gout attack"[tiab:~3] OR "uric acid"[Title:~0] OR tart adj3 cherry[tiab]',
        '"gout attack"[tiab:~3] OR "uric acid"[Title:~0] OR "tart cherry"[tiab:~2]',
    ),
    "hyphens, apostrophes and slashes": (
        'non-adherent[tiab] OR "st anthony\'s fire"[tiab] OR alzheimer’s[tiab] OR IL-1β/IL-6[tiab] OR WR-238605[tiab]',
        'non-adherent[tiab] OR "st anthony\'s fire"[tiab] OR alzheimer’s[tiab] OR IL-1β/IL-6[tiab] OR WR-238605[tiab]',
    ),
    "letters of other scripts, and spaces that do not break": (
        "Sjögren[tiab] OR “Behçet disease”[tiab] OR 痛風[ti] OR подагра[tt]",
        'Sjögren[tiab] OR "Behçet disease"[tiab] OR 痛風[ti] OR подагра[tt]',
    ),
    "a square bracket inside a name": (
        "benzo[a]pyrene[tiab] OR [18F]FDG[tiab]",
        "benzo[a]pyrene[tiab] OR [18F]FDG[tiab]",
    ),
    "truncated phrases, and a star at the wrong end": (
        '"heart attack*"[tiab] OR staphylococc*[tiab] OR *Staphylococcus[Mesh]',
        '"heart attack*"[tiab] OR staphylococc*[tiab] OR *Staphylococcus[Mesh]',
    ),
    "a slash that was left behind": (
        "gout[ti] NOT (Animals[Mesh] NOT (Animals[Mesh] AND Humans[Mesh]/))",
        "gout[ti] NOT (Animals[Mesh] NOT (Animals[Mesh] AND Humans[Mesh]))",
    ),
    "words without a tag": (
        "hurtle cell OR OPTC OR ((Children[tiab]) AND (Community))",
        "hurtle cell OR OPTC OR (Children[tiab] AND Community)",
    ),
    "a leading NOT inside brackets": (
        "gout[ti] AND (NOT letter[pt]) AND english[la] AND humans[Filter] AND medline[sb]",
        "gout[ti] AND english[la] AND humans[Filter] AND medline[sb] NOT letter[pt]",
    ),
    "a tag after brackets": (
        "(gout OR podagra OR tophi[mh])[ti] AND Smith J[au]",
        "(gout[ti] OR podagra[ti] OR tophi[mh]) AND Smith J[au]",
    ),
    "titles that hold operators in quotation marks": (
        '"gout AND diet"[ti] OR "to be OR not to be"[ti]',
        '"gout AND diet"[ti] OR "to be OR not to be"[ti]',
    ),
    "commas, semicolons and tabs": (
        "Receptors, Muscarinic[mh]\tOR\t“Arthritis, Gouty”[mh];\r\nOR gout[ot],",
        'Receptors, Muscarinic[mh] OR "Arthritis, Gouty"[mh] OR gout[ot]',
    ),
}
