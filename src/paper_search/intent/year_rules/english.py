"""Year phrases in English."""

from paper_search.intent.year_rules.common import Language

ENGLISH = Language(
    rules=(
        ("range", r"\byears?:\s*{first}\s*(?:{to}|\.\.)\s*{second}"),
        ("in", r"\byears?:\s*{year}"),
        (
            "range",
            r"(?:\b(?:published|dated)\s+)?\b(?:from|since|between|in|during|years?|published|dated|of)\s+"
            r"{first}{to}{second}",
        ),
        ("bare range", r"{first}{to}{second}"),
        ("range", r"(?:\bpublished\s+)?\bbetween\s+{first}\s+and\s+{second}"),
        ("range", r"(?:\b(?:from|in)\s+)?{first}-(?P<short>1[3-9]|[2-9][0-9])(?![\w%°]|[-./]\w)"),
        ("range", r"\b(?:from|in|during|published(?:\s+in)?)\s+{first}\s+(?:or|and)\s+(?:in\s+)?{second}"),
        ("range", r"{first}\s*(?:,|\b(?:and|or)\b|&)\s*{second}(?=\s+{papers}\b)"),
        ("since", r"(?:\b(?:from|since)\s+)?{lone}{to}{now}\b"),
        (
            "within",
            r"(?:\bpublished\s+)?(?:\b(?:in|over|during|within|from|for|of|since)\s+)?(?:\bthe\s+)?"
            r"\b(?:last|past|previous|recent)\s+(?:{number}\s+)?{unit}\b(?!-)",
        ),
        ("within", r"\bthis\s+(?P<unit>century)\b"),
        ("this decade", r"(?:\b(?:in|from|during|of)\s+)?\bthis\s+decade\b"),
        ("this year", r"(?:\bpublished\s+)?(?:\b(?:in|from|during)\s+)?\bthis\s+year\b(?!['’])"),
        (
            "within",
            r"\b(?:(?:newer|younger|less|fewer)\s+than|at\s+most|up\s+to|under)\s+"
            r"(?:an?\s+)?(?:{number}\s+)?{unit}\s+(?:old|of\s+age)\b",
        ),
        ("within", r"\bpublished\s+within\s+{number}\s+{unit}\b"),
        ("within", r"\b(?:newer|younger)\s+than\s+(?:an?\s+)?(?:{number}\s+)?{unit}\b(?!\s+old)"),
        ("within", r"\b{number}\s+{unit}\s+(?:old\s+)?or\s+(?:less|newer|younger)\b"),
        ("within", r"\b(?:max(?:imum)?\.?\s+age|age\s+limit)\s*(?:of|is|:)?\s*{number}\s+{unit}\b"),
        ("aged", r"\bat\s+least\s+(?:an?\s+)?(?:{number}\s+)?{unit}\s+old\b"),
        ("older", r"\b(?:older\s+than|more\s+than|over)\s+(?:an?\s+)?(?:{number}\s+)?{unit}\s+(?:old|of\s+age|ago)\b"),
        ("older", r"\bolder\s+than\s+(?:an?\s+)?(?:{number}\s+)?{unit}\b"),
        ("since", r"\bsince\s+(?P<ago>(?:an?\s+)?(?:{number}\s+)?{unit}\s+ago)\b"),
        (
            "since",
            r"\b(?:starting\s+(?:in|from|with)|as\s+of|only\s+since|(?:going\s+|dating\s+|reaching\s+)?back\s+to"
            r"|(?:published\s+)?since)\s+{when}",
        ),
        (
            "since",
            r"(?:\b(?:from|in)\s+)?{when}\s+(?:onwards?|forward|(?:or|and|&)\s+(?:later|newer|after|onwards?|up|beyond"
            r"|more\s+recent))\b",
        ),
        ("since", r"\b(?:published\s+)?(?:in|on|from)\s+or\s+(?:after|later\s+than)\s+{when}"),
        ("until", r"\b(?:published\s+)?(?:in|on|from)\s+or\s+(?:before|earlier\s+than)\s+{when}"),
        ("since", r"\b(?:(?:at\s+the\s+)?earliest|min(?:imum)?\.?\s+year)\s*(?:is|in|from|:)?\s*{year}"),
        ("until", r"\b(?:at\s+the\s+latest|latest\s*:|max(?:imum)?\.?\s+year)\s*(?:is|in|from|:)?\s*{year}"),
        ("since", r"{year}\s+at\s+the\s+earliest\b"),
        ("until", r"{year}\s+at\s+the\s+latest\b"),
        ("since", r"{year}\s+(?:being|as|is)\s+the\s+(?:earliest|oldest|first)(?:\s+year)?\b"),
        ("until", r"{year}\s+(?:being|as|is)\s+the\s+(?:latest|newest|last)(?:\s+year)?\b"),
        ("since", r"\bfrom\s+{when}\s+on\b(?=\s*(?:$|[\n,;.!?)]))"),
        ("since", r"{lone}\+(?=$|[\s,;.!?)])"),
        ("since", r"(?:\byear\s*)?(?:>=|≥|=>)\s*{year}"),
        ("until", r"(?:\byear\s*)?(?:<=|≤|=<)\s*{year}"),
        ("after", r"(?:\byear\s*)?>\s*{year}"),
        ("before", r"(?:\byear\s*)?<\s*{year}"),
        ("until", r"{when}\s+(?:or|and|&)\s+(?:earlier|older|before|prior)\b"),
        ("until", r"^\s*(?:until|till|up\s+to)\s+{when}"),
        (
            "until",
            r"\b(?:(?:up\s+)?until|(?:up\s+)?till|up\s+to|through|(?:published|appeared|available)\s+by)\s+(?:and\s+including\s+)?{when}{stop}",
        ),
        ("since", r"\b(?:published\s+)?after\s+{month}{year}{lead}"),
        ("until", r"\b(?:from\s+|published\s+)?before\s+{month}{year}{lead}"),
        (
            "after",
            r"\b(?:from\s+|published\s+|dated\s+)?(?:after|(?:later|newer|younger|more\s+recent)\s+(?:{things}\s+)?than)\s+"
            r"{when}{lead}",
        ),
        ("after", r"\b(?:from\s+|published\s+|dated\s+)?(?:following|beyond|postdat(?:e[sd]?|ing))\s+{when}{stop}"),
        (
            "before",
            r"\b(?:from\s+|published\s+|dated\s+)?(?:before|prior\s+to|(?:(?:earlier|older)(?:\s+{things})?|(?:go(?:ing|es)?\s+)?(?:further\s+back|back\s+(?:any\s+)?further))\s+than"
            r"|preced(?:e[sd]?|ing)|predat(?:e[sd]?|ing))\s+{when}{lead}",
        ),
        ("after", r"\bpost-{year}{stop}"),
        ("before", r"\bpre-{year}{stop}"),
        ("after unwanted", r"\bpost[-\s]{year}(?=(?:\s+[\w-]+){0,4}?\s+{papers}\b)"),
        ("before unwanted", r"\bpre[-\s]{year}(?=(?:\s+[\w-]+){0,4}?\s+{papers}\b)"),
        ("in", r"\b(?:published|appeared|presented|written)\s+in\s+{when}"),
        ("in", r"(?:\b(?:in|during|of|from)\s+)?\bthe\s+{decade}"),
        ("in lately", r"\b(?:in|during)\s+{year}{stop}"),
        (
            "in",
            r"(?:(?<=papers)|(?<=articles)|(?<=publications)|(?<=surveys)|(?<=reviews))\s+(?:of|from)\s+{year}{stop}",
        ),
        ("in", r"(?<=\bet al)[.,]*\s+{year}"),
        ("in", r"[(\[]\s*{year}\s*[)\]]"),
        ("since", r"\bfrom\s+{year}{stop}"),
        ("in", r"\b{year}(?=\s+{papers}\b)"),
        ("in unwanted", r"{year}{stop}"),
        ("old", r"\b(?:very\s+|too\s+)?old(?:er)?\s+{things}\b"),
        (
            "recent",
            r"\b(?:(?:the|most|more)\s+)*(?:recent|recently|latest|newest)\b(?!-)|\bnewer(?=\s+{papers}|\s*$)|\btoo\s+old\b",
        ),
    ),
    unwanted=(
        r"(?:\b(?:but|and|also|so|then|please|kindly|just)[\s,]+){0,3}"
        r"(?:\b(?:i|we|you|there\s+is|there['’]s)\s+(?:can\s+|could\s+|would\s+|may\s+)?)?"
        r"\b(?:skip(?:ping)?|exclud(?:e|ing)|omit(?:ting)?|ignor(?:e|ing)|avoid(?:ing)?|drop(?:ping)?|discard(?:ing)?"
        r"|disregard(?:ing)?|reject(?:ing)?|remov(?:e|ing)|hide|forget(?:\s+about)?|(?:leave|leaving)\s+(?:out|aside)"
        r"|(?:filter|weed)(?:ing)?\s+out|(?:do\s+)?without|except(?:ing)?(?:\s+for)?|(?:other|rather)\s+than"
        r"|apart\s+from|aside\s+from|instead\s+of|minus|no\s+need\s+(?:for|to\s+(?:include|show|list|see|have))|no\s+interest\s+in"
        r"|(?:already\s+)?have\s+(?:enough|plenty\s+of|too\s+many)"
        r"|(?:(?:am|are)\s+|['’]m\s+|['’]re\s+)?not\s+interested\s+in"
        r"|(?:do(?:es)?\s+not|do(?:es)?n['’]t|must\s+not|mustn['’]t|should\s+not|shouldn['’]t|(?:is|are|was|were)n['’]t|need\s+not|(?-i:not|Not))"
        r"(?:\s+(?:want|need|include|show|return|give|consider|list|be|have))?(?:\s+(?:me|us|to\s+see))?"
        r"|never|nothing|none|no|nor)"
        r"(?:\s+(?:any|all|the|those|these|everything|anything|stuff|things|ones?|{things}|that|which|whatever|came|come|comes|out|are|is|was"
        r"|were|be|been|has|have|published|dated|written|released|appearing|appeared|coming|from|of)){0,6}\s+"
    ),
    excluded=(
        r"\s*[,:)-]?\s*(?:{papers}\s+|ones\s+|those\s+)?"
        r"(?:(?:(?:is|are|was|were|to|should|must|can|may|need|has|have)\s+)?(?:not\s+)?(?:be\s+|been\s+)?"
        r"(?:excluded|skipped|ignored|omitted|left\s+out|dropped|removed|discarded|disregarded|filtered\s+out|unwanted"
        r"|irrelevant|not\s+(?:needed|wanted|relevant|interesting|required|allowed|of\s+interest|included|welcome))"
        r"|(?:need|should|must)\s+not\s+be\s+included|(?:aside|out)(?=\s*(?:$|[\n,;.!?)]))|(?:is|are)\s+out(?:\s+of\s+scope)?|\?\s*no"
        r"|(?:do\s+not|don['’]t|does\s+not|doesn['’]t)\s+(?:count|matter|interest\s+(?:me|us)))\b"
    ),
    cues=r"[0-9]|year|decade|month|century|recent|latest|newe|\bold|ties\b",
)
