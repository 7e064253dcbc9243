"""Year phrases in German, French, Spanish and Portuguese."""

from paper_search.intent.year_rules.common import Language

GERMAN = Language(
    rules=(
        ("range", r"(?:\b(?:von|zwischen|aus(?:\s+den)?)\s+(?:den\s+jahren\s+)?){first}{to}{second}"),
        ("range", r"\b(?:von\s+)?{first}\s+bis\s+(?:einschließlich\s+)?{second}"),
        ("range", r"\bzwischen\s+{first}\s+und\s+{second}"),
        (
            "within",
            r"(?:\b(?:in|aus|während|innerhalb)\s+)?\b(?:den|der|dem|die|des)\s+(?:letzten|vergangenen)\s+"
            r"(?:{number}\s+)?{unit}\b",
        ),
        ("within", r"\b(?:jünger\s+als|höchstens|maximal)\s+(?:ein(?:e[mnrs]?)?\s+|{number}\s+){unit}(?:\s+alt)?\b"),
        ("older", r"\b(?:älter\s+als|mehr\s+als)\s+(?:ein(?:e[mnrs]?)?\s+|{number}\s+){unit}(?:\s+alt)?\b"),
        ("since", r"\b(?:seit(?:\s+dem\s+jahr)?|(?-i:[aA]b)(?:\s+dem\s+jahr)?|beginnend\s+mit)\s+{when}"),
        ("since", r"{when}\s+(?:oder|und)\s+(?:später|danach|neuer|jünger)\b"),
        ("until", r"{when}\s+(?:oder|und)\s+(?:früher|davor|älter)\b"),
        ("until", r"\bbis(?:\s+(?:einschließlich|zum\s+jahr|ende))?\s+{when}{stop}"),
        ("after", r"\b(?:nach|später\s+als|neuer\s+als|jünger\s+als)\s+(?:dem\s+jahr\s+)?{when}{stop}"),
        ("before", r"\b(?:vor|früher\s+als|älter\s+als)\s+(?:dem\s+jahr\s+)?{when}{stop}"),
        ("in", r"\b(?:im\s+jahre?|aus\s+dem\s+jahr|veröffentlicht\s+in|erschienen\s+in|aus)\s+{when}{stop}"),
    ),
    unwanted=(
        r"(?:\b(?:aber|und|bitte)\s+){0,2}\b(?:kein(?:e[mnrs]?)?|nichts|nicht|nie(?:mals)?|ohne|außer|ausgenommen|ignoriere"
        r"|überspringe)(?:,?\s+(?:die|der|das|den|alle|alles|was|solche|{papers}|veröffentlicht(?:e[nr]?)?|erschienene?"
        r"|die\s+vor|von|aus)){0,4}\s+"
    ),
    excluded=(
        r"\s*,?\s*(?:{papers}\s+|(?:erschienene|veröffentlichte)\s+{papers}\s+)?(?:(?:sind|bitte|werden)\s+){0,2}"
        r"(?:ausgeschlossen|ausschließen|auslassen|weglassen|ignorieren|überspringen|nicht\s+(?:nötig|relevant|erwünscht"
        r"|gewünscht|berücksichtigen|interessant))\b"
    ),
    cues=(
        r"\b(?:seit|ab|bis|nach|vor|zwischen|von|aus|letzten|vergangenen|älter|jünger|neuer|später|früher|danach|davor"
        r"|höchstens|maximal|jahre?n?|erschienen|veröffentlicht)\b"
    ),
)

FRENCH = Language(
    rules=(
        ("range", r"\b(?:entre|de|des\s+années|depuis)\s+{first}{to}{second}"),
        ("range", r"\bentre\s+{first}\s+et\s+{second}"),
        ("range", r"\bde\s+{first}\s+(?:à|jusqu['’](?:en|à))\s+{second}"),
        (
            "within",
            r"(?:\b(?:au\s+cours\s+des|dans\s+les|durant\s+les|pendant\s+les|ces|les|des)\s+)(?:{number}\s+)?"
            r"(?:derni[èe]r(?:e?s)|pass[ée]e?s)\s+(?:{number2}\s+)?{unit}\b",
        ),
        ("within", r"(?:\b(?:au\s+cours\s+de|dans)\s+)?\bla\s+dernière\s+{unit}\b"),
        ("within", r"\b(?:datant\s+de\s+|de\s+|a\s+|ont\s+|ayant\s+)?(?:moins\s+de|au\s+plus)\s+{number}\s+{unit}\b"),
        ("older", r"\b(?:datant\s+de\s+|de\s+|vieux\s+de\s+)?plus\s+(?:de|vieux\s+que)\s+{number}\s+{unit}\b"),
        ("since", r"\b(?:depuis|dès|à\s+partir\s+de|à\s+compter\s+de)\s+(?:l['’]année\s+|les\s+années\s+)?{when}"),
        ("since", r"{when}\s+(?:ou|et)\s+(?:plus\s+tard|après|ultérieur(?:e?s)?|plus\s+récents?)(?!\w)"),
        ("until", r"{when}\s+(?:ou|et)\s+(?:avant|plus\s+tôt|antérieur(?:e?s)?)(?!\w)"),
        ("until", r"\bjusqu['’](?:en|à|au)\s+{when}{stop}"),
        ("after", r"\b(?:après|postérieur(?:e?s)?\s+à)\s+{when}{stop}"),
        ("before", r"\b(?:avant|antérieur(?:e?s)?\s+à)\s+{when}{stop}"),
        ("in", r"\b(?:(?:publié|paru)e?s?\s+)?(?:en|durant\s+l['’]année|de\s+l['’]année)\s+{when}{stop}"),
    ),
    unwanted=(
        r"(?:\b(?:mais|et)\s+)?\b(?:aucune?s?|(?:ne\s+)?pas(?:\s+inclure)?|rien|sans|sauf|except[ée]|hormis|exclu(?:re|ant|ez|s)|en\s+excluant"
        r"|ignor(?:er|ez|e)|évit(?:er|ez)|jamais|non)"
        r"(?:\s+(?:d['’](?=\s)|(?:d['’])?{things}|de|des|les|ceux|celles|tous?|toutes?|rien|{papers}|qui|sont|ont|été|publiée?s?|parue?s?|dat[ée]e?s?"
        r"|datant)){0,6}\s+"
    ),
    excluded=(
        r"\s*,?\s*(?:{papers}\s+)?(?:sont\s+|à\s+)?(?:exclu(?:e?s|re|e)?|ignorée?s?|écartée?s?|non\s+(?:pertinent|souhaité)e?s?)\b"
    ),
    cues=(
        r"\b(?:entre|de|en|depuis|dès|partir|compter|après|avant|jusqu|derni[eè]re?s?|pass[ée]e?s|moins|plus|tard|tôt"
        r"|(?:postérieur|antérieur|ultérieur)(?:e?s)?|durant|année)\b"
    ),
)

SPANISH = Language(
    rules=(
        ("range", r"\b(?:entre|de|desde)\s+{first}{to}{second}"),
        ("range", r"\bentre\s+(?:los\s+años\s+)?{first}\s+y\s+{second}"),
        ("range", r"\b(?:de|desde|del)\s+{first}\s+(?:a|al|hasta)\s+{second}"),
        (
            "within",
            r"(?:\b(?:en|durante|de|dentro\s+de)\s+)?\b(?:l[oa]s)\s+(?:{number}\s+)?(?:últim[oa]s|pasad[oa]s)\s+"
            r"(?:{number2}\s+)?{unit}\b",
        ),
        ("within", r"(?:\b(?:en|durante|de)\s+)?\b(?:la\s+última|el\s+último)\s+{unit}\b"),
        ("within", r"\b(?:de\s+|con\s+)?menos\s+de\s+{number}\s+{unit}(?:\s+de\s+antigüedad)?(?!\w)"),
        ("older", r"\b(?:de\s+|con\s+)?más\s+de\s+{number}\s+{unit}(?:\s+de\s+antigüedad)?(?!\w)"),
        ("since", r"\b(?:desde|a\s+partir\s+de(?:l\s+año)?)\s+(?:el\s+año\s+|los\s+años\s+)?{when}"),
        ("since", r"{when}\s+(?:o|y|en)\s+(?:después|posterior(?:es)?|adelante|más\s+recientes?)\b"),
        ("until", r"{when}\s+(?:o|y)\s+(?:antes|anterior(?:es)?)\b"),
        ("until", r"\bhasta\s+(?:el\s+año\s+)?{when}{stop}"),
        ("after", r"\b(?:después\s+de(?:l\s+año)?|posterior(?:es)?\s+a(?:l\s+año)?|tras)\s+{when}{stop}"),
        ("before", r"\b(?:antes\s+de(?:l\s+año)?|anterior(?:es)?\s+a(?:l\s+año)?)\s+{when}{stop}"),
        ("in", r"\b(?:publicad[oa]s?\s+)?(?:en(?:\s+el\s+año)?|del\s+año)\s+{when}{stop}"),
    ),
    unwanted=(
        r"(?:\b(?:pero|y|por\s+favor)\s+){0,2}\b(?:ning[úu]n[oa]?|no|nada|sin|excepto|salvo|menos|exclu(?:yendo|ir|ya|ye)"
        r"|ignor(?:ar|a|e|ando)|omit(?:ir|e|a|iendo)|evit(?:ar|a|e|ando)|descart(?:ar|a|e|ando)|nunca)"
        r"(?:\s+(?:l[oa]s|el|la|lo|aquell[oa]s|tod[oa]s?|que|sean|son|fueron|sea|quiero|incluy?a?s?|incluir|{papers}"
        r"|publicad[oa]s?|de)){0,5}\s+"
    ),
    excluded=r"\s*,?\s*(?:{papers}\s+)?(?:quedan\s+|están\s+)?(?:excluid[oa]s?|descartad[oa]s?|no\s+(?:incluir|interesan))\b",
    cues=(
        r"\b(?:entre|de|del|desde|en|partir|hasta|después|antes|tras|posterior(?:es)?|anterior(?:es)?|últim[oa]s?|pasad[oa]s"
        r"|menos|más|adelante)\b"
    ),
)

PORTUGUESE = Language(
    rules=(
        ("range", r"\b(?:entre|de|desde)\s+{first}{to}{second}"),
        ("range", r"\bentre\s+{first}\s+e\s+{second}"),
        ("range", r"\b(?:de|desde)\s+{first}\s+(?:a|até)\s+{second}"),
        (
            "within",
            r"\b(?:n[oa]s|d[oa]s|[oa]s|durante\s+[oa]s)\s+(?:{number}\s+)?(?:últim[oa]s|passad[oa]s)\s+"
            r"(?:{number2}\s+)?{unit}\b",
        ),
        ("within", r"\b(?:na|da|a)\s+última\s+{unit}\b"),
        ("within", r"\b(?:de\s+|com\s+)?(?:menos|no\s+máximo)\s+(?:de\s+)?{number}\s+{unit}\b"),
        ("older", r"\b(?:de\s+|com\s+)?mais\s+(?:de|antigos\s+que)\s+{number}\s+{unit}\b"),
        ("since", r"\b(?:desde|a\s+partir\s+de)\s+(?:[oa]\s+ano\s+(?:de\s+)?)?{when}"),
        ("since", r"{when}\s+(?:ou|e|em)\s+(?:depois|diante|posterior(?:es)?|mais\s+recentes?)\b"),
        ("until", r"{when}\s+(?:ou|e)\s+(?:antes|anterior(?:es)?)\b"),
        ("until", r"\baté\s+(?:o\s+ano\s+(?:de\s+)?)?{when}{stop}"),
        ("after", r"\b(?:depois\s+de|após|posterior(?:es)?\s+a)\s+{when}{stop}"),
        ("before", r"\b(?:antes\s+de|anterior(?:es)?\s+a)\s+{when}{stop}"),
        ("in", r"\b(?:publicad[oa]s?\s+)?(?:em|no\s+ano\s+de|do\s+ano\s+de)\s+{when}{stop}"),
    ),
    unwanted=(
        r"(?:\b(?:mas|e|por\s+favor)\s+){0,2}\b(?:nenhuma?|não|nada|sem|exceto|salvo|menos|exclu(?:indo|ir|a|i)"
        r"|ignor(?:ar|a|e|ando)|omit(?:ir|a|indo)|evit(?:ar|e|ando)|descart(?:ar|e|ando)|nunca)"
        r"(?:\s+(?:[oa]s?|aqueles|aquelas|tod[oa]s?|que|sejam|são|foram|quero|inclu(?:a|ir)|{papers}|publicad[oa]s?|de)){0,5}"
        r"\s+"
    ),
    excluded=r"\s*,?\s*(?:{papers}\s+)?(?:são\s+|estão\s+)?(?:excluíd[oa]s?|descartad[oa]s?|não\s+(?:incluir|interessam))\b",
    cues=(
        r"\b(?:entre|de|desde|em|no|do|partir|até|depois|antes|após|posterior(?:es)?|anterior(?:es)?|últim[oa]s?|passad[oa]s"
        r"|menos|mais|máximo|diante)\b"
    ),
)

EUROPEAN = (GERMAN, FRENCH, SPANISH, PORTUGUESE)
