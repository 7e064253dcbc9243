"""The phrases by which people say what they would like most, as data. `preferences` reads them.

A wish that follows its cue runs to the end of its clause; a wish before its cue starts where its clause does. A cue
marked `{clause}` counts at the start of a clause only, so that "a particularly dry summer" stays a topic.
"""

FOLLOWED = (
    # English
    r"\b(?:i|we)\s+(?:would\s+)?(?:especially|particularly)\s+(?:like|want|need|love)\b",
    r"\b(?:i\s+am|i['’]m|we\s+are|we['’]re)\s+(?:most|mostly|mainly|particularly|especially|primarily|chiefly)\s+interested\s+in\b",
    r"(?:but\s+|and\s+)?\b(?:i|we)\s+(?:really\s+|mostly\s+|mainly\s+|only\s+|especially\s+|particularly\s+)?care\s+"
    r"(?:most(?:ly)?\s+|mainly\s+|primarily\s+|especially\s+|particularly\s+|a\s+lot\s+)?(?:about|for)\b",
    r"\bwhat\s+(?:(?:matters|counts)(?:\s+(?:the\s+)?most)?(?:\s+(?:to|for)\s+(?:me|us))?(?:\s+(?:the\s+)?most)?"
    r"|interests\s+(?:me|us)(?:\s+most)?|i\s+care\s+(?:most\s+)?about|i\s+want\s+most)\s+(?:is|are)\b",
    r"{clause}most\s+important(?:ly)?\b(?:\s+(?:to|for)\s+(?:me|us))?(?:\s+(?:is|are))?[,:]?",
    r"\b(?:and\s+)?prefer{1,2}ably\b[,:]?",
    r"(?:{clause}|\b(?:and|but|or)\s+)ideally\b[,:]?",
    r"{clause}(?:if|when(?:ever)?|where)\s+(?:at\s+all\s+)?(?:possible|available)\b[,:]?",
    r"(?<!\ba\s)(?<!\ban\s)(?<!\bthe\s)(?<!\bof\s)\b(?:and\s+|but\s+)?(?:especially|esp\.)",
    r"{clause}(?:and\s+)?(?:in\s+particular|particularly|notably|primarily|mainly|mostly|above\s+all|first\s+and\s+foremost)"
    r"\b[,:]?",
    r"\b(?:i|we)(?:\s+would|['’]d)?\s+(?:rather\s+|strongly\s+|really\s+|much\s+)?prefer(?:\s+to\s+(?:see|have|read|get))?\b",
    r"{clause}prefer(?::|(?=\s))",
    r"(?:{clause}|\b(?:and|but)\s+)(?:i|we)(?:\s+would|['’]d)\s+(?:also\s+)?love(?:\s+to\s+(?:see|have|get|read))?\b",
    r"\b(?:my|our|the)\s+(?:(?:main|primary|particular|special|chief|biggest|top|first|key)\s+)?"
    r"(?:interests?|focus|preferences?|priorit(?:y|ies)|concerns?)\s+(?:is|are|lies?|would\s+be)(?:\s+(?:in|on|with|for))?\b",
    r"{clause}(?:the\s+)?most\s+(?:relevant|important|interesting|useful|valuable)(?:\s+ones)?(?:\s+(?:to|for)\s+(?:me|us))?"
    r"\s+(?:is|are|would\s+be)\b",
    r"{clause}(?:(?:it\s+would\s+be|it['’]d\s+be)\s+)?(?:even\s+)?(?:best|better|great|good|nice|ideal|perfect)\s+(?:if|with)\b"
    r"(?:\s+(?:they|it|the\s+papers|papers|there))?(?:\s+(?:are|is|were|use|used|include|have|had|involve|cover)\b)?",
    r"\b(?:i|we)(?:\s+would|['’]d)\s+rather\s+(?:see|have|read|get)\b",
    r"\b(?:i\s+am|i['’]m|we\s+are|we['’]re)\s+(?:particularly\s+|especially\s+|very\s+)?keen\s+(?:on|to\s+see)\b",
    r"\b(?:with\s+)?(?:give|giving|a(?:\s+(?:clear|strong|slight))?)\s+(?:preference|priority)\s+(?:to|for)\b",
    r"{clause}(?:priorit(?:is|iz)(?:e|ing)|favou?r(?:ing)?)\b",
    r"{clause}(?:priorit(?:y|ies)|preferences?)\s*:",
    r"{clause}rather(?=\s)(?!\s+than\b)",
    r"{clause}(?:with\s+(?:an?\s+)?)?(?:(?:main|special|strong)\s+)?focus(?:ing|ed)?\s+(?:mainly\s+|mostly\s+|especially\s+)?on\b",
    r"{clause}(?:a\s+)?(?:bonus|extra)(?:\s+points?)?\s+(?:for|if)\b",
    r"{clause}nice\s+to\s+have\b[,:]?",
    r"\bwith\s+(?:an?\s+)?(?:(?:special|particular|strong|main|extra)\s+)?emphasis\s+on\b",
    r"\bwith\s+(?:an?\s+)?(?:special|particular|strong)\s+(?:focus|attention|interest)\s+(?:on|to|in)\b",
    # German
    r"{clause}(?:vorzugsweise|bevorzugt|am\s+liebsten|idealerweise|möglichst|besonders|insbesondere|vor\s+allem"
    r"|wenn\s+möglich)\b[,:]?",
    # French
    r"\bde\s+préférence\b[,:]?",
    r"{clause}(?:idéalement|surtout|en\s+particulier|notamment|si\s+possible|plutôt)\b[,:]?",
    # Spanish
    r"{clause}(?:preferiblemente|preferentemente|de\s+preferencia|idealmente|sobre\s+todo|especialmente|en\s+particular"
    r"|si\s+es\s+posible|a\s+ser\s+posible)\b[,:]?",
    # Portuguese
    r"\b(?:de\s+preferência|preferencialmente)\b[,:]?",
    r"{clause}(?:sobretudo|em\s+particular|se\s+possível)\b[,:]?",
    # Chinese
    r"{clause}(?:最好是?|优先(?:考虑)?|尤其是?|特别是|如果可能[,，]?|我?最关心(?:的是)?)",
    # Japanese
    r"{clause}(?:できれば|可能なら|可能であれば|特に|なるべく|とりわけ)[、,]?",
)

DISLIKED = (
    r"\b(?:i\s+am|i['’]m|we\s+are|we['’]re)\s+(?:less|not\s+(?:so|very|that|really|particularly|especially))\s+interested\s+in\b",
    r"\b(?:i|we)\s+(?:do\s+not|don['’]t)\s+(?:particularly|especially|really)\s+(?:care\s+(?:about|for)|need|want)\b",
)
"""Cues of what a person would like least."""

PRECEDED = (
    r"\s+(?:(?:is|are)\s+)?(?:strongly\s+|much\s+)?preferred\b{end}",
    r"\s+(?:would\s+be|is|are)\s+(?:(?:especially|most|very|particularly)\s+)?(?:nice|great|ideal|preferable|welcome|best"
    r"|perfect|appreciated|helpful|a\s+(?:plus|bonus)|(?:the\s+)?most\s+important(?:\s+(?:to|for)\s+(?:me|us))?)\b{end}",
    r"\s+if\s+(?:at\s+all\s+)?possible\b{end}",
    r"\s+(?:is|are)\s+(?:(?:very|most|more|particularly|especially)\s+)?important(?:\s+(?:to|for)\s+(?:me|us))?\b{end}",
    r"\s+(?:matters?|counts?)\s+(?:the\s+)?most(?:\s+(?:to|for)\s+(?:me|us))?\b{end}",
    r"\s+bevorzugt\b{end}",
    r"を?優先(?:して(?:ください)?)?{end}",
    r"优先{end}",
)

RECENT = (
    r"\bthe\s+(?:more\s+recent|newer|later|younger)\s*,?\s+the\s+better\b",
    r"\bje\s+(?:neuer|aktueller)\s*,?\s+desto\s+besser\b",
)
"""Wishes for new papers."""
