"""By what text is known that nobody sees, or that tells a model what to answer.

Every pattern names a model, its instructions or its labels, and is looked for within one
sentence or line. None looks farther than a bounded number of characters.
"""

# Look-alike letters and other languages are the matter here, and a pattern is one line.
# ruff: noqa: E501, RUF001

from __future__ import annotations

import re

#: Letters of other scripts that look like Latin ones, as they stand in words that mix both.
LOOKALIKES = str.maketrans("аеорсухіјѕοαρν", "aeopcyxijsoapv")
#: Digits as they stand for letters within a word.
DIGITS = str.maketrans("013457", "oieast")
#: Letters of a word, spaced out.
SPACED = re.compile(r"(?<!\S)(?:\S ){2,}\S(?!\S)")

#: A label as it may stand alone: a letter, a shouted word, a quoted one.
_LETTER = (
    r"[\"'“”‘’(\[*`]{0,2}\b[ABC](?![\w'’]|\.\w)(?=\s*(?:$|[^\w\s]|\n)|\s+(?:from|today|now|no|regardless|"
    r"if|whatever|in|for|to|and|or|instead|because|always|only)\b)"
)
_WORDS = (
    r"(?:entail(?:ment|ed|s)|contradict(?:ion|ed|ory|s)|neutral|supported|unsupported|refuted"
    r"|not[ _]found|not[ _]enough[ _]info(?:rmation)?)"
)
_SHOUTED = r"\b(?:ENTAIL(?:MENT|ED|S)|CONTRADICT(?:ION|ED|S)|NEUTRAL|(?:UN)?SUPPORTED|REFUTED)\b"
_LABEL = rf"(?:(?-i:{_LETTER}|{_SHOUTED})|[\"'“‘`*]{_WORDS}[\"'”’`*])"
#: What may stand between "answer" and the label.
_FILLER = (
    r"(?:\W{0,3}\b(?:with|only|just|the|letter|option|answer|is|always|simply|one|word|label|as|by|"
    r"saying|exactly|nothing|but|me|us|it|back|to|any|every|each|all|claims?|questions?)\b){0,8}\W{1,3}"
)
_TRUTH = (
    rf"(?:{_WORDS}|true|correct|verified|confirmed|accurate|proven|valid|false|wrong|incorrect)"
)
#: Where an imperative may begin.
_TOLD = (
    r"(?:^|[,;:.!?)\]}>\"“”—–-]\s*"
    r"|\b(?:and|then|please|must|should|shall|you|now|always|just|simply|instead|only|so)\s+)"
)
_CLAIMS = r"(?:claim|statement|hypothes[ie]s|assertion|sentence|pair)s?"
#: A claim that something restricts is one of people, of expenses or insurance: "claims that are …".
_UNRESTRICTED = r"(?:(?!\b(?:that|which|who|if|only|unless|once|when|whether|not|incorrect|incomplete)\b)[^.!?\n])"
#: What bears a claim out, or from when on it counts: "supported by a receipt". A model is told of
#: the text in front of it alone.
_NO_CONDITION = (
    r"(?! (?:by|with|if|only|unless|when|once|until|before|for \w+ (?:days|weeks|months|years)|in \w+)\b"
    r"(?! (?:the|this) (?:passage|text|document|page|source|context)))"
)
#: Instructions of strangers, which every security policy warns of.
_OF_STRANGERS = (
    r"(?! (?:received|sent|arriving|that (?:arrive|come)|by (?:e-?mail|phone|post|text|fax)|"
    r"(?:in|over) (?:e-?mails?|(?:text )?messages|the phone)|from (?:unknown|unverified|strangers|anyone|"
    r"third|outside|external|people|callers|senders))\b)"
)
_NO_TRADE = (
    r"(?! (?:developer|engineer|researcher|team|vendor|user|provider|company|supplier|deployer|lab|firm|"
    r"start-?up|manager|director|professor|editor|coach|secretary|principal|surgeon|buyer|accountant)s?\b)"
)
#: What a letter is chosen for among people's own options: a plan, a case, a time.
_NO_CHOICE = (
    r"(?! (?:for|in|to|from|if|and|or)\b(?! (?:every|each|any|all|this|that|these|whatever|everything|"
    r"the (?:claims?|statements?|hypothes[ie]s|pairs?|answers?|following|next|above|below|questions?)|"
    r"(?:answer|reply|output|respond)\b)))"
)
_MODEL = (
    r"(?:a\.?i\.?|llms?|gpt\w*|(?:large )?language models?|chat ?bots?|(?:ai|virtual) (?:agent|assistant)s?"
    r"|fact[- ]?check(?:er|ing (?:system|model|tool|bot))s?|(?:automated|automatic|nli|ai) "
    r"(?:check|grad|review|evaluat|classifi|read|verifi)\w*|classifiers?|evaluators?|assistants?)"
)

#: Each is looked for within one sentence or line.
_PATTERNS = [
    # A chat's markup, written out.
    r"<[|｜][^|｜>\n]{1,40}[|｜]>|\[/?INST\]|<</?SYS>>|</?(?:bos|eos|s|start_of_turn|end_of_turn)>"
    r"|<(?:start|end)_of_turn>|</?(?:system|assistant|instructions?)>",
    r"^\W{0,9}#{2,6}\s*(?:new |system )?(?:instruction|response|system|prompt|human|assistant)s?\b\W*[:#]",
    # Against the instructions.
    r"\b(?:ignore|disregard|forget|override|bypass|discard|neglect|(?:do not|don't|stop) "
    rf"(?:follow|obey|heed|apply)(?:ing)?)\b[^.!?\n]{{0,50}}?\b"
    rf"(?:(?:instructions?|prompts?|directions|directives){_OF_STRANGERS}|"
    r"(?:the )?(?:text|passage|context|document|examples?|messages?) (?:above|before)|"
    r"(?:above|previous|preceding|prior|foregoing|earlier) "
    r"(?:text|passage|context|document|examples?|messages?|rules|commands?)|told (?:above|before|so far)|"
    r"everything (?:above|before|else|so far)|all of the above)\b",
    r"\b(?:ignore|disregard|forget)\b (?:all |everything )?(?:of )?(?:the |that is )?"
    r"(?:above|foregoing|preceding)\s*(?:[.,;:!]|$|\band\b)",
    r"^\W*(?:(?:new|updated|additional|revised|secret|real|override)\s+(?:system )?(?:instruction|prompt)s?|"
    r"(?:(?:new|updated|additional|revised)\s+system|secret|real|override)\s+directives?)\s*[:!–—-]",
    r"\byour (?:new |real |only |actual )?(?:(?:instructions?|task|prompt) (?:has|have|is|are) "
    r"(?:now |been |changed|to (?:answer|reply|output|say|agree|confirm|label|mark))|"
    r"(?:job|role) is (?:now )?to (?:agree|(?:confirm|label|mark)\b[^.!?\n]{0,30}?\b(?:claims?|statements?|everything)\b))",
    # To a model.
    rf"\b(?:note|message|attention|instructions?|memo|hint|reminder|notice|warning|dear|hey|hello)\b"
    rf"[,:]?\s*(?:to|for)?\s*(?:the|any|all|every|our)?\s*{_MODEL}\b",
    rf"\bif you are (?:an? |the )?{_MODEL}\b{_NO_TRADE}",
    rf"\byou are (?:now |no longer )(?:an? |the )?(?:[\w-]+ ){{0,2}}{_MODEL}\b{_NO_TRADE}",
    rf"\b(?:as|being) an? (?:ai|(?:large )?language model|llm)\b{_NO_TRADE}",
    rf"^\W*{_MODEL}\s*[,:]\s*(?:please|you|answer|reply|ignore|treat|mark|label|output)\b",
    # What to answer.
    rf"(?:{_TOLD}|\bto )(?:answer|reply|respond|output|print|return|write|say|says|emit|"
    rf"predict|generate|mark|label)\b{_FILLER}{_LABEL}",
    rf"(?:{_TOLD}|\bto )(?:choose|select|pick)\b{_FILLER}{_LABEL}{_NO_CHOICE}",
    rf"(?:{_TOLD}|\bto )(?:answer|reply|respond|output|predict|classif\w+|label|choose|pick|mark)\b"
    rf"[^.!?\n]{{0,40}}?\b(?:(?-i:{_SHOUTED})|entailment|contradiction|neutral|supported|refuted)\b",
    rf"{_TOLD}(?:mark|label|classify|judge|treat|rate|grade|score|consider|regard|count|accept|declare|"
    rf"assess|confirm|reject)\b{_UNRESTRICTED}{{0,30}}\b(?:{_CLAIMS}|everything|anything|whatever)\b"
    rf"{_UNRESTRICTED}{{0,40}}\b{_TRUTH}\b{_NO_CONDITION}",
    r"\b(?:answer|label|letter|verdict|relation|classification|prediction|judge?ment)s?\b"
    r"[\"'”]?(?: (?:for|to|of) [^.!?\n:=]{1,40}?)?\s*(?:is|are|:|=|->|must be|should be|has to be|will be|shall be)"
    rf"\s*(?:always |only |clearly |just |simply |the letter |option )?(?:{_LABEL}|[\"'“]?{_WORDS}\b{_NO_CONDITION})",
    r"\b(?:correct|right|expected|only|final|proper) (?:answer|label|letter|response|output|option|choice|"
    rf"result)s?\s*(?:is|are|:|=|->)\s*(?:always |only )?(?:{_LABEL}|[\"'“]?{_WORDS}\b)",
    rf"^\W*(?:assistant|model|response|output|system)\s*[:=>]+\s*(?:{_LABEL}|{_WORDS})\W*$",
    r"[\"'](?:entailment|contradiction|neutral|supported|contradicted|label|verdict)[\"']\s*:\s*"
    r"(?:[01](?:\.\d+)?\b|true|false)",
    # What claims are.
    rf"\b(?:every|any|each|all|following|next|whichever) (?:other |further |of the )?{_CLAIMS}\b"
    rf"(?: (?:below|above|that follows?|about \w+|(?:that )?you (?:see|read|check|get|are given)))?{_UNRESTRICTED}{{0,20}}?"
    rf"\b(?:is|are|be|as|counts? as)\b[^.!?\n]{{0,15}}\b{_TRUTH}\b{_NO_CONDITION}",
    rf"\b{_CLAIMS} (?:below|that follows|you (?:are (?:given|asked|checking)|were given)|"
    rf"to be (?:checked|verified|judged|assessed)|under review)\b[^.!?\n]{{0,30}}\b{_TRUTH}\b"
    r"(?! for \w+ (?:days|weeks|months|years)\b)",
    rf"\b(?:this|the) (?:passage|document|text|page|source|context) (?:fully |clearly |directly )?"
    rf"(?:supports?|entails?|confirms?|proves?|contradicts?|refutes?|rules out|states) "
    rf"(?:the |every |any |all |whatever |each )(?:following |next )?(?:{_CLAIMS}\b(?!\w)|claim below)",
    # The same in the languages next to English on the web.
    r"\b(?:ignorier\w*|missacht\w*|vergiss|vergesst|vergessen sie)\b.{0,50}(?:anweisung|obig|vorherig|bisherig|alles)",
    r"\b(?:ignore[zr]?|oublie[zr]?|ne tenez pas compte)\b.{0,50}(?:consigne|ci-dessus|pr[ée]c[ée]dent)",
    r"\b(?:ignor[ae]n?|olvid[ae]n?|omit[ae])\b.{0,50}(?:instrucci|anterior|lo de arriba)",
    r"\b(?:ignora(?:te|re)?|dimentica(?:te)?)\b.{0,50}(?:istruzion|precedent|sopra)",
    r"\b(?:ignore|ignora|esque[çc]a)\b.{0,50}(?:instru[çc][õo]|anterior|acima)",
    r"\b(?:negeer|vergeet)\b.{0,50}(?:instructies|bovenstaande|vorige|opdracht)",
    r"\b(?:zignoruj|pomi[ńn]|zapomnij)\b.{0,50}(?:instrukc|polece[ńn]|powy[żz]sz|poprzedni)",
    r"(?:игнорируй|проигнорируй|забудь)\w*.{0,60}(?:инструкц|указани|выше|предыдущ)",
    r"(?:忽略|无视|無視|忘记).{0,20}(?:指令|指示|以上|上述|之前|内容)|(?:上記|以前|これまで).{0,12}(?:指示|命令|内容).{0,8}無視",
    r"(?:\b(?:antwort\w*|r[ée]pond\w*|respond[ae]\w*|rispond\w*|antwoord\w*|odpowiedz\w*)|отве(?:ть|чай)\w*|"
    rf"回答|答え|输出|選|选择).{{0,40}}?(?:{_LABEL}|(?-i:(?<![A-Za-z])[ABC](?![A-Za-z])))",
]
ADDRESSED = [re.compile(pattern, re.IGNORECASE) for pattern in _PATTERNS]

#: A line of a solved example, which is one only where a label follows.
SHOWN = re.compile(
    r"^\W*(?:example\W+)?(?:claim|hypothesis|passage|premise|statement|question|input|q)\b[^:\n]{0,40}:",
    re.IGNORECASE,
)
#: A label and nothing else, which is one only behind an instruction.
ALONE = re.compile(rf"^\W*(?:[ABC]|{_WORDS}|yes|no|true|false)\W*$", re.IGNORECASE)
#: What a page does not show.
HIDDEN = re.compile(
    r"<!--.{0,2000}?(?:-->|\Z)"
    r"|<(?P<tag>[a-z]+)\b[^<>]{0,200}(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|\shidden\b)"
    r"[^<>]{0,200}>.{0,2000}?</(?P=tag)\s*>"
    r"|^\[(?://|comment)\]:\s*(?:#|<>)[^\n]*",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
#: A sentence, or what stands between a line end and a full stop.
PIECE = re.compile(
    r"[^\n\r.!?。！？]+(?:[.!?。！？]+(?![\s\"'”’)\]*])[^\n\r.!?。！？]*)*[.!?。！？]*[\"'”’)\]*]*|[.!?。！？]+"
)
