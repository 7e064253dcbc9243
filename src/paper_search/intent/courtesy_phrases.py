"""Courtesies and requests, which are not part of the subject of a search: the phrases by language, and their removal.

An opening counts at the start of a sentence, and openings may follow one another ("please", "find me", "papers about").
A closing counts at the end of a sentence.
"""

import re

from paper_search.intent.text_cleanup import BREAK

PAPERS = r"(?:papers?|articles?|publications?|literature|preprints?|stud(?:y|ies)|works?|research|references|results)"
KIND = (
    r"(?:(?:[0-9]+|scientific|academic|scholarly|research|journal|conference|peer-reviewed|key|seminal|good|best|top"
    r"|(?:most\s+|very\s+)?(?:relevant|important|interesting|influential|useful)|(?:most|highly)[\s-]cited)\s+)*"
)
ABOUT = (
    r"(?:about|on|regarding|concerning|relat(?:ed|ing)\s+to|relevant\s+to|dealing\s+with|covering|discussing|describing"
    r"|addressing|(?:show|suggest|argu|claim|demonstrat|prov|find|report)ing\s+that|(?:that|which)\s+(?:are\s+about|deals?\s+with|discuss(?:es)?|describes?|covers?|address(?:es)?"
    r"|stud(?:y|ies)|uses?|proposes?)|in\s+the\s+(?:field|area)\s+of|where|for|in|of|with|using|that|which)"
)
_I_AM = r"(?:i|we)(?:['’]m|['’]re|\s+am|\s+are)"
_LEARN = r"(?:\s+to\s+(?:find|see|read|know|learn|get|have|understand))?(?:\s+more)?(?:\s+about)?"
_THINGS = (
    r"(?:anything|something|everything|whatever|evidence|information|info|material|sources|resources|reads?|readings?|stuff"
    r"|insights?|details|facts|findings)"
)
_SOME = rf"(?:all|some|any|the|an?\s+(?:list|few|set|selection|collection)|{KIND}{PAPERS})"

OPENINGS = (
    # English
    r"good\s+(?:morning|afternoon|evening|day)[\s,!.]+",
    r"(?:hi|hello|hey|dear|greetings)(?:\s+(?:there|all|everyone|everybody|assistant|librarian|team|sir|madam|friend))*"
    r"(?=[\s,!.]|$)[\s,!.]*",
    r"(?:many\s+)?(?:thanks|thank\s+you)(?:\s+(?:so|very)\s+much)?(?:\s+in\s+advance(?:\s+for)?|\s+for|(?=[,!.]|\s*$))[\s,!.]*",
    r"(?:please|kindly|ok|okay|also|and|or|but|so|only|just)(?=[\s,!.]|$)[\s,!.]*",
    r"(?:(?:my|our|the|search|research)\s+)*(?:topic|title|query|subject|keywords?|question|theme)(?:\s+(?:is|are))?\s*:",
    r"(?:would|could)\s+you\s+(?:be\s+so\s+kind\s+(?:as\s+to|and)|mind\s+(?:finding|searching|looking))\b",
    r"(?:can|could|would|will|may)\s+(?:you|some(?:one|body)|any(?:one|body)|i\s+(?:ask|have|get))\b",
    r"(?:have\s+you\s+)?got(?=\s+(?:any|some))|do\s+you\s+(?:have|know(?:\s+of)?)\b",
    r"(?:looking|searching|hunting)\s+for\b|(?:need\s+)?help\s+(?:finding|with)\b|help(?=\s+find\b)",
    r"(?:,\s*)?(?:it\s+|they\s+|(?:the\s+)?papers\s+)?(?:must|should|ha(?:s|ve)\s+to)\s+be\s+(?:about|on)\b",
    r"for\s+(?:my|our|an?)\s+[\w-]+(?:\s+[\w-]+)?,?\s+(?=(?:i|we)\s+(?:need|want|am|are|would|have)\b)",
    r"(?:i|we)\s+(?:have\s+to|need\s+to|must|want\s+to|am\s+going\s+to)\s+(?:write|prepare|give|do|finish)\s+(?:an?|my|our)\s+"
    r"[\w-]+\s+(?:on|about)\b",
    r"what\s+do(?:es)?\s+(?:the\s+)?(?:[\w-]+\s+){1,2}(?:say|know|think|write|report)\s+about\b",
    r"(?:list|show|give|find|get|fetch|return|name)(?=\s*$)",
    rf"(?:(?:good|useful|solid|recent)\s+)*{_THINGS}(?:\s+new)?\s+(?:on|about|regarding|concerning|for)\b",
    r"(?:how|where)\s+(?:do|can|could|would|should|might)\s+(?:i|we|one)\s+(?=find|search|look|get)",
    rf"{_I_AM}\s+(?:currently\s+)?(?:(?:looking|searching|hunting)\s+for|after)\b",
    rf"{_I_AM}\s+(?:currently\s+)?(?:interested\s+in|working\s+on|(?:writ|prepar|draft|plann|do|start|finish|conduct|giv)ing\s+"
    r"(?:(?:an?|my|our|some)\s+)?(?:[\w-]+\s+){0,2}?[\w-]+\s+(?:on|about))\b",
    rf"(?:i|we)(?:['’]d|\s+would)\s+(?:like|love){_LEARN}\b",
    r"(?:i|we)(?:['’]d|\s+would)\s+(?:be\s+)?(?:grateful|glad|happy|thankful|pleased|appreciate)\s+"
    r"(?:for\b|if\s+you\s+(?:could|can|would)\b|(?=all|any|some))",
    rf"(?:i|we)\s+(?:only\s+|just\s+|also\s+|[a-z]+ly\s+)?(?:need|want|seek){_LEARN}\b",
    r"(?:my|our|the)\s+(?:supervisor|boss|professor|advis[oe]r|teacher|colleague|manager|pi|mentor|team)s?\s+(?:ha(?:s|ve)\s+)?"
    r"(?:asked|told|wants?|needs?)(?:\s+(?:me|us))?(?:\s+to)?\b",
    r"let\s+(?:me|us)\s+(?:know|have|see)(?:\s+about)?\b",
    r"(?:(?:make|be)\s+sure|remember|try)\s+(?:to|that\s+you|you)\s+(?:include|cover|find|get)\b",
    rf"include(?=\s+{_SOME}\b)",
    r"everything(?:\s+(?:that\s+)?(?:you|there)(?:\s+(?:can|could|is|have))?(?:\s+(?:find|know|get))?)?(?=\s+(?:about|on)\b)",
    r"(?:do|run|perform|conduct|start)\s+(?:an?\s+)?(?:(?:quick|thorough|full|systematic|literature|paper)\s+)*(?:search|lookup)"
    r"\s+(?:on|about|for|of)\b",
    r"help\s+(?:me|us)(?:\s+to)?\b",
    r"(?:i\s+am|i['’]m|we\s+are|we['’]re)\s+(?:an?\s+)?(?:[\w-]+\s+){1,8}?(?:(?:looking|searching|hunting)\s+for"
    r"|(?:and|who)\s+(?:i\s+|we\s+)?(?:needs?|wants?|seeks?|would\s+like))\b",
    rf"(?:summari[sz]e|survey|review|cover|explore)\s+(?:all\s+)?(?:the\s+)?{KIND}{PAPERS}\s+(?:on|about)\b",
    r"find\s+out(?:\s+(?:about|more\s+about|how|what|whether|if|why))?\b",
    r"(?:dig|pull|look|turn|round|come|put|bring|hunt|track|gather)\s+(?:up|together|out|down|with|up\s+with)\b"
    r"(?:\s+(?:me|us))?",
    r"(?:compile|prepare|create|make|assemble|put\s+together|draw\s+up|build|produce|write|provide|give)\s+(?:me\s+|us\s+)?"
    r"(?:an?\s+|the\s+)?(?:[\w-]+\s+)?(?:list|bibliography|overview|summary|collection|selection)\s+(?:of|on|about)\b",
    r"point\s+(?:me|us)\s+(?:to|towards?)\b",
    r"(?:limit|restrict|confine)(?:\s+(?:it|this|yourself|the\s+(?:search|results)|results))?\s+to\b",
    r"(?:to\s+)?(?:find|search\s+for|look\s+for|look\s+up|look\s+into)(?:\s+(?:me|us))?\b",
    r"(?:show|give|get|fetch|list|recommend|suggest|provide|detail|tell|send|search|return|compile|collect|gather|retrieve"
    rf"|share|bring)\s+(?:me\b|us\b|(?={_SOME}\b))(?:\s+about\b)?",
    r"what(?:['’]s|\s+is|\s+are|\s+was|\s+were|\s+has\s+been)\s+(?:already\s+|currently\s+)?(?:known|written|published|said)\s+(?:about|on|of)\b",
    r"what\s+do\s+(?:we|you|people)\s+know\s+about\b",
    r"who\s+(?:has\s+)?(?:worked|works|published|writes|wrote|written)\s+(?:on|about)\b",
    rf"(?:which|what)\s+{KIND}{PAPERS}\b",
    r"(?:has|have|did)\s+any(?:one|body)\b",
    r"what(?:['’]s|\s+is|\s+are)(?=\s)",
    r"is\s+it\s+possible\s+to\b|are\s+you\s+able\s+to\b|(?:get|lay)\s+hold\s+of\b",
    r"my\s+name\s+is\s+[\w-]+(?:\s+[\w-]+)?\s+and\s+i\s+(?:study|research|investigate|work\s+on)\b",
    r"(?:is|are)\s+there\b",
    r"(?:some|all|any|the|more|an?|a\s+few|(?:a\s+)?(?:list|set|selection|collection)\s+of)(?=\s|$)",
    rf"{KIND}{PAPERS}(?:\s+{ABOUT}\b|\s*$)",
    rf"(?!in\s+(?:vitro|vivo|situ|silico)\b){ABOUT}(?=\s|$)",
    # German
    r"(?:hallo|guten\s+tag|bitte|danke|vielen\s+dank)(?=[\s,!.]|$)[\s,!.]*",
    r"(?:können|könnten|kannst|könntest)\s+(?:sie|du|ihr)(?:\s+(?:mir|uns))?\b",
    r"(?:ich|wir)\s+(?:suchen?|brauchen?|benötigen?|möchten?|hätten?\s+gerne?)(?:\s+(?:alles|gerne))?(?:\s+(?:über|zu|nach))?\b",
    r"(?:finden?|suchen?|such|zeigen?|zeig|gib|geben|nennen?|liste)(?:\s+(?:sie|mir|uns|bitte|nach|alle|einige|alles)\b)*(?=\s)",
    r"(?:(?:die|einige|alle|aktuelle|neue|neuere|wissenschaftliche|relevante|gute)\s+)*(?:arbeiten|artikel|studien|publikationen"
    r"|veröffentlichungen|aufsätze|literatur|paper)\s+(?:über|zu[mr]?(?:\s+thema)?|von|rund\s+um)\b",
    # French
    r"(?:bonjour|merci(?:\s+d['’]avance)?|s['’]il\s+(?:te|vous)\s+pla[iî]t)(?=[\s,!.]|$)[\s,!.]*",
    r"(?:pouvez|peux|pourriez|pourrais)-?\s?(?:vous|tu)\b",
    r"(?:je|nous)\s+(?:re)?cherch(?:e|ons)\b|je\s+(?:voudrais|veux|souhaite|souhaiterais|aimerais)(?:\s+(?:trouver|lire))?\b"
    r"|j['’](?:ai\s+besoin\s+d(?:e|['’])|aimerais)(?:\s+(?:trouver|lire))?",
    r"(?:trouve|cherche|montre|donne|liste)(?:r|z)?(?:[-\s](?:moi|nous)\b)?(?=\s)",
    r"(?:(?:des|les|quelques|d['’])\s*)?(?:(?:articles?|études|travaux|publications|papiers)\s+)(?:scientifiques\s+|récents\s+)*"
    r"(?:sur|concernant|à\s+propos\s+de|traitant\s+de|portant\s+sur)\b(?:\s+(?:la|le|les))?",
    # Spanish
    r"(?:hola|gracias|por\s+favor)(?=[\s,!.]|$)[\s,!.]*",
    r"(?:¿\s*)?(?:puedes|podrías|puede|podría)\b",
    r"(?:buscamos|busco|necesito|necesitamos|quiero|quisiera|me\s+gustaría)(?:\s+(?:encontrar|leer|buscar))?\b",
    r"(?:busca|buscar|encuentra|encontrar|muestra|muéstrame|dame|búscame|encuéntrame)(?=\s)",
    r"(?:(?:los|las|unos|algunos)\s+)?(?:artículos|trabajos|estudios|publicaciones|papers)\s+(?:científicos\s+|recientes\s+)*"
    r"(?:sobre|acerca\s+de|relacionados\s+con)\b(?:\s+(?:el|la|los|las))?",
    # Portuguese
    r"(?:olá|obrigad[oa]|por\s+favor)(?=[\s,!.]|$)[\s,!.]*",
    r"(?:você\s+)?(?:pode|poderia)\b",
    r"(?:procuro|procuramos|preciso\s+de|quero|gostaria\s+de)(?:\s+(?:encontrar|ler|procurar))?\b",
    r"(?:encontre|encontrar|procure|busque|mostre(?:-me)?|ache)(?=\s)",
    r"(?:(?:os|as|uns|alguns)\s+)?(?:artigos|trabalhos|estudos|publicações)\s+(?:científicos\s+|recentes\s+)*"
    r"(?:sobre|acerca\s+d[eoa]|relacionados\s+(?:a|com))\b(?:\s+(?:o|a|os|as))?",
)

CLOSINGS = (
    # English
    r"\b(?:please|(?:many\s+)?thanks|thank\s+you)(?:\s+(?:so|very)\s+much)?(?:\s+in\s+advance)?",
    r"\b(?:(?:best|kind|warm)\s+)?regards\b[\w\s,]{0,30}|\b(?:cheers|sincerely)",
    r"\b(?:if\s+(?:possible|you\s+(?:can|could|may|have\s+time)|you\s+don['’]t\s+mind)|asap|for\s+(?:me|us))",
    r"\b(?:that|which)\s+(?:i|we)\s+(?:can|could|should|may)\s+(?:cite|read|use|download|quote)",
    rf"\b(?:which|what)(?:\s+{PAPERS})?\s+(?:should|could|can|must)\s+(?:i|we)\s+(?:read|cite|use|know|start\s+with)(?:\s+first)?",
    r"\bfor\s+(?:my|our)\s+(?:[\w-]+\s+)?(?:review|thesis|paper|project|dissertation|proposal|grant|class|course|seminar|report"
    r"|article|study|work|research|talk|lecture|essay|homework)",
    r"\b(?:please\s+|and\s+)?(?:send|show|give|tell)\s+(?:me|us)\s+(?:what(?:ever)?\s+you\s+(?:have|find|know|can\s+find)|them"
    r"|everything|it)",
    r"\band\s+(?:send|list|show|give|email|mail|forward|bring)\s+(?:them|it)(?:\s+to)?(?:\s+(?:me|us))?",
    r"\b(?:and|so)\s+(?:i\s+|we\s+)?(?:(?:am|are)\s+)?(?:need|want|looking\s+for|(?:would\s+)?appreciate"
    r"|would\s+(?:like|love|welcome))\s+(?:(?:some|the|more|any)\s+)*"
    rf"{KIND}{PAPERS}",
    # other languages
    r"\b(?:suchen|finden|heraussuchen|zeigen)",
    r"\b(?:bitte|danke|vielen\s+dank|merci|s['’]il\s+(?:te|vous)\s+pla[iî]t|por\s+favor|gracias|obrigad[oa])",
)

CJK = (
    # Chinese
    r"(?:(?:请|請|麻烦|能否|可以|帮忙|帮我|给我|我想要?|我要|我需要|你|您){0,4}(?:查找|寻找|尋找|找|搜索|搜尋|检索|檢索|推荐|列出|了解)"
    r"(?:一些|一下|几篇|所有)?)(?:关于|關於|有关|有關)?",
    r"(?:^|(?<=[\n,;、。!?\s]))(?:关于|關於|有关|有關|请|請)",
    r"(?:方面的?|相关的?|的)?(?:论文|論文|文献|文獻|文章)(?:吗|呢)?(?=\s*(?:$|[\n,;、。!?]))",
    r"谢谢(?:你|您)?",
    r"(?<=[\u3400-\u9fff]{2})(?:的|相关|に関する|についての)?研究(?=\s*(?:$|[\n,;、。!?]))",
    r"(?:について|に関して|に関し)(?=\s*(?:$|[\n,;、。!?]))",
    # Japanese
    r"(?:に関する|についての|に関連する|に関連した|の)?(?:論文|文献)(?:を|が|は)?(?:探して|検索して|見つけて|教えて|調べて|紹介して|欲しい|ほしい"
    r"|読みたい)?(?:ください|下さい|います|いる|です)?(?=\s*(?:$|[\n,;、。!?]))",
    r"お願いします|ありがとう(?:ございます)?",
)

JOINT = r"\bwith\s+(?:an?\s+)?focus\s+on\b"
"""A phrase that joins two topics."""

NOUNS_ALONE = (
    r"(?:(?:die|des|les|los|las|os|as)\s+)?(?:arbeiten|artikel|studien|publikationen|veröffentlichungen|articles?|études|travaux"
    r"|publications|artículos|trabajos|estudios|publicaciones|artigos|trabalhos|estudos|publicações)"
)
"""Nouns for publications in other languages, removed if a piece of text holds nothing else."""

_OPENING = re.compile(rf"\s*(?:{'|'.join(OPENINGS)})(?!-\w)", re.IGNORECASE)
_CLOSING = re.compile(rf"[\s,;.]*(?:{'|'.join(CLOSINGS)})[\s.!?]*$", re.IGNORECASE)
_INSIDE = re.compile("|".join((*CJK, JOINT)), re.IGNORECASE)
_SENTENCE_END = re.compile(rf"({BREAK}|(?<=[;!?])\s|(?<!\b[A-Z]\.)(?<=\.)\s)")
_NOUN_ALONE = re.compile(
    r"(?<![\w-])(?:(?:scientific|academic|scholarly|research|journal|conference|review|seminal|(?:most|highly)[\s-]cited)\s+)*"
    rf"(?:papers|articles|publications|preprints)(?![\w-])|(?<=\n){PAPERS}(?=\s*\n|\s+{ABOUT}\b)"
    rf"|(?<=\n)[\s,;.]*{NOUNS_ALONE}[\s,;.]*(?=\n)",
    re.IGNORECASE,
)


def remove_courtesies(text: str) -> str:
    """Return the text without courtesies, requests and bare nouns for papers."""
    pieces = _SENTENCE_END.split(_INSIDE.sub(BREAK, text))
    bare = "".join(piece if _SENTENCE_END.fullmatch(piece) else remove_openings_and_closings(piece) for piece in pieces)
    return _NOUN_ALONE.sub(BREAK, f"{BREAK}{bare}{BREAK}")


def remove_openings_and_closings(sentence: str) -> str:
    """Return the sentence without the requests and courtesies at its beginning and its end."""
    while closing := _CLOSING.search(sentence):
        sentence = sentence[: closing.start()]
    position = 0
    while (match := _OPENING.match(sentence, position)) and match.end() > position:
        position = match.end()
    return sentence[position:]
