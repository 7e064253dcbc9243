"""Word lists of the rules, in lower case except for the names of venues."""


def _split_words(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _split_lines(lines: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in lines.strip().splitlines())


JOINING = _split_words("""
    using use used based via regarding concerning related including involving versus like toward towards among along
    across against around behind beside besides despite except inside outside near minus plus per unlike known and/or
    affect affects affecting cause causes caused improve improves improving enable enables helps
    propose proposes proposed introduce introduces introduced investigate investigates investigated examine examines
    examined explore explores explored discuss discusses discussed describe describes described study studied show shows
    showed shown demonstrate demonstrates demonstrated conduct conducted create created establish established adopt
    adopted develop developed present presents presented provide provides provided combine combines involve involves
    involved handle handles deal deals dealing exist exists increase increases reduce reduces leads make makes made
    obtain obtained compared associated determine determined given done been anyone anybody interested especially
    treated receiving undergoing particularly possibly exclusively currently already mainly mostly usually
    generally specifically
    explain explains explained motivate motivates represent represents represented maintain maintains maintained built
    shapes determine determines predict predicts promote promotes mediate mediates modulate modulates alter alters
    accelerate accelerates suppress suppresses inhibit inhibits enhance enhances treat treats facilitate facilitates
    hinder hinders undermine undermines foster fosters strengthen strengthens weaken weakens worsen worsens differ
    differs vary varies respond responds perceive perceives i.e i.e. e.g e.g.
    用于 基于 关于 以及 应用于 对于
""")
"""Words that stand between concepts as function words do."""

BEFORE_HELPING = _split_words("can could do does did may might must will would should to that which who")
"""Words after which "help" is a verb."""

FILLER = _split_words("""
    effect effects role roles impact impacts influence use uses application applications method methods approach
    approaches technique techniques study studies analysis work works research paper papers problem problems issue
    issues way ways topic topics field area areas kind kinds type types advance advances progress development
    developments trend trends best top good latest new novel recent important interesting relevant example examples
    result results literature article articles please information overview various different seminal influential
    researches need lack better worse higher lower
""")
"""Words that are too vague to be a concept."""

LEADING_FILLER = _split_words("""
    novel various different interesting relevant important best seminal influential popular better worse larger greater
    fewer
""")
"""Words to drop in front of a concept."""

CHATTER = FILLER | _split_words("""
    irrelevant great bad better worse again want wanted need needed show give look looking like similar ones ok okay
    yes thanks general generic broad narrow specific old older newer interested useful useless try search find include
    add focus prefer see seem seems instead rather really quite lot lots list it enough those these
""")
"""Words of a reply that are about the results and not about the subject."""

AFTER_NOT = _split_words("only just yet all always so well known enough much many limited sure")
"""Words after which "not" excludes nothing."""

NOUNS_LIKE_ADJECTIVES = _split_words("""
    hospital animal metal signal journal mineral capital trial clinic music plastic topic traffic fabric ceramic arsenic
    pandemic epidemic robotic olive additive library diary salary potential interval
""")
"""Nouns with the ending of an adjective."""

NOT_SECOND = _split_words("""
    back off up out down away together apart behave form recover work shape delay drive count trade spread navigate grow
    evolve survive migrate move communicate cope emerge
""")
"""Words that seldom end a term."""
NOT_FIRST = _split_words("monitor detect track drives traded suppressed navigate survive migrate communicate cope")
"""Verbs that questions put before the first word of a term."""

FOREIGN_FUNCTION_WORDS = (
    _split_words("""
    der die das den dem des ein eine einer eines einem einen und oder von vom zu zum zur im in am an auf aus bei mit
    nach für über unter durch gegen ohne um als wie ist sind wird werden nicht auch bis zwischen sich seit während
    """),
    _split_words("""
    le la les l un une des du de d et ou en dans sur sous avec sans pour par chez au aux ce cette ces que qui est sont
    entre vers comme
    """),
    _split_words("""
    el la los las un una unos unas de del y o u en con sin para por sobre entre a al como que es son se su
    sus desde hasta
    """),
    _split_words("""
    o a os as um uma uns umas de do da dos das e ou em no na nos nas com sem para por pelo pela sobre entre ao à aos às
    como que é são se seu sua seus suas desde até após
    """),
)
"""The words that join concepts in German, French, Spanish and Portuguese."""

NAME_PARTICLES = _split_words("van von der den de da di del della la le el al bin ibn ter ten dos du af zu")
NOT_NAMES = _split_words("monte bayesian raman gaussian fourier markov bragg python matlab i the a an using means")
"""Capitalised words after "by" that are methods, not people."""

LANGUAGES = _split_words("""
    english german french spanish portuguese italian dutch swedish danish norwegian finnish polish czech hungarian
    romanian greek russian ukrainian turkish arabic hebrew persian farsi hindi indonesian vietnamese thai chinese
    mandarin japanese korean
""")

JOURNALS = _split_lines("""
    Nature
    Science
    Cell
    Neuron
    Joule
    Lancet
    The Lancet
    JAMA
    BMJ
    NEJM
    PNAS
    eLife
    PLOS ONE
    Scientific Reports
    Physical Review Letters
    JACS
    Angewandte Chemie
    Advanced Materials
    ACS Nano
    Nano Letters
    JMLR
    TMLR
    TPAMI
    arXiv
    bioRxiv
    medRxiv
""")
CONFERENCES = _split_words("""
    NeurIPS NIPS ICML ICLR CVPR ICCV ECCV ACL EMNLP NAACL EACL COLING AAAI IJCAI UAI AISTATS COLT KDD SIGIR WSDM CIKM
    RecSys ICRA IROS CoRL SIGGRAPH CHI UIST CSCW SIGMOD VLDB ICDE OSDI SOSP NSDI SIGCOMM INFOCOM NDSS CRYPTO EUROCRYPT
    STOC FOCS SODA POPL PLDI OOPSLA ICSE ISCA HPCA ASPLOS ICASSP INTERSPEECH MICCAI
""")
