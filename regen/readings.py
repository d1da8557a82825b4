"""Telling apart the answers that documents give: which are the same one in other words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from regen.quotes import sentences

_WORD = re.compile(r"[^\W\d_]+|\d[\d.,]*")
_TOLD = (
    r"(?:say|said|stat(?:e|ed)|mention(?:ed)?|specif(?:y|ied)|giv(?:e|en)|provid(?:e|ed)|answer(?:ed)?|address(?:ed)?"
    r"|discuss(?:ed)?|indicat(?:e|ed)|contain(?:ed)?|includ(?:e|ed)|about|relevant)\b"
)
_NOTHING = re.compile(
    r"^\W*(?:none|n/?a|unknown"
    rf"|(?:it(?: is|['\u2019]s) )?not (?:\w+ly )?{_TOLD}(?: (?:in|by|here|anywhere)\b.*)?"
    rf"|no (?:answer|information|mention)(?: (?:is |was )?(?:{_TOLD}|available|found|about|on|regarding|in)\b.*)?"
    rf"|(?:the|this) (?:document|text|passage) (?:does|did|is)(?: not|n['\u2019]t) (?:\w+ly )?{_TOLD}.*)\W*$",
    re.IGNORECASE | re.DOTALL,
)
_SAYS = re.compile(
    r"^(?:according to )?(?:the|this) (?:document|text|passage)(?:,| (?:says|states)(?: that)?)\s+", re.IGNORECASE
)
_STOP = frozenset(
    "a an and are as at be been by can for from has have in into is it its of on or our that the their them there "
    "they this to was we were which who will with you your per each every all any do does did".split()
)
_SMALL = {
    word: str(number)
    for number, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
}
# Stems of units with one spelling each.
_UNITS = frozenset("minut hour day week month year decad centuri percent dollar euro pound mile inch".split())
_REPORTED = re.compile(
    r"\b(?:according to|as (?:stated|announced|reported) (?:in|by)"
    r"|(?:some|other|older|earlier) (?:documents?|sources?|pages?)"
    r"|(?:was|were|had been) (?:first|originally|initially|previously) (?:stated|said|announced|reported|given))\b",
    re.IGNORECASE,
)
_YES_NO = frozenset({"yes", "no"})
# Words with which a question asks, and which say nothing of what it is about.
_ASKING = frozenset("what when where why how much mani long often old i me my we us s is it should could would".split())
_WHO = re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE)
_HOW_MANY = re.compile(r"\bhow many\b", re.IGNORECASE)
# Stems of words that answer how many there are without a number.
_QUANTITIES = frozenset(
    "no none nobodi nobod one both all everi each any sever few mani most half dozen hundr unlimit limit".split()
)
_REJECTS = re.compile(
    r"\b(?:myths?|misconceptions?|false|untrue|not true|debunked|disproved|contrary to)\b", re.IGNORECASE
)
_DENIES = re.compile(r"^\W*no\b|\b(?:not|never|cannot|no longer|neither|nor)\b|n['\u2019]t\b", re.IGNORECASE)
# The verb that a question with the answer yes or no begins with, and the pronoun that goes with it in that answer.
_ASKS_YES_NO = re.compile(
    r"^\W*(is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|should|will|would)\s+(i|we|you)?\b",
    re.IGNORECASE,
)
# What a question asks about: from its verb on, without a participle at its end ("When are salaries paid?").
_ASKED_ABOUT = re.compile(
    r"\b(?:is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|should|will|would)\s+(.+?)"
    r"(?:\s+(?:be\s+)?(?:\w+ed|paid|held|made|known|born|built|written|given|taken|sold|found|led|won|sent|kept|done))?"
    r"\W*$",
    re.IGNORECASE,
)
# An answer with no more content words than these beside those of the question says little of its own.
_LITTLE = 1
_OF_MANY = frozenset({"are", "were", "do", "have"})
_YES = re.compile(r"^\W*yes\b[\s,.:;!-]*", re.IGNORECASE)
_SCALES = frozenset("thousand million billion trillion".split())
_MONTHS = frozenset("januari februari march april june juli august septemb octob novemb decemb".split())
# Two answers are one when this share of the shorter one's content words stands in the longer one.
_SHARED = 0.8


def is_none(answer: str) -> bool:
    """Whether a model said that the document does not answer, or said nothing: a lone letter, say."""
    return len(answer.strip(" .")) < 2 or _NOTHING.match(answer.strip()) is not None


def bare(answer: str) -> str:
    """An answer without "The document says that" before it."""
    return _SAYS.sub("", answer.strip(), count=1)


def same_answer(one: str, other: str) -> bool:
    """Whether two answers to one question agree: the same numbers in the same units, or the words of one in the other.

    Where both have numbers, those of one must all be in the other; where both name units, some must be the same. A
    bare "yes" or "no" agrees with every statement that doesn't deny, or does. An answer that calls something a myth
    agrees with none that states it.
    """
    a, b = content(one), content(other)
    if not a or not b:
        return one.strip().casefold() == other.strip().casefold()
    if rejects(one) != rejects(other):
        return False
    if is_yes_or_no(one) or is_yes_or_no(other):
        return bool(_DENIES.search(one)) == bool(_DENIES.search(other))
    numbers_a, numbers_b = numbers(one), numbers(other)
    if numbers_a and numbers_b and not (numbers_a <= numbers_b or numbers_b <= numbers_a):
        return False
    for kind in (_UNITS, _SCALES, _MONTHS):
        if numbers_a and numbers_b and a & kind and b & kind and not a & b & kind:
            return False
    if numbers_a and numbers_a == numbers_b:
        return True
    if negative(one) != negative(other):
        return False
    short, long = sorted((a, b), key=len)
    return len(short & long) >= _SHARED * len(short)


def group(answers: Sequence[str]) -> list[list[int]]:
    """Places of answers that agree, in order of size and then of first mention."""
    groups: list[list[int]] = []
    for place, answer in enumerate(answers):
        home = next((found for found in groups if all(same_answer(answer, answers[other]) for other in found)), None)
        if home is None:
            groups.append([place])
        else:
            home.append(place)
    return sorted(groups, key=lambda places: (-len(places), places[0]))


def agreed(answers: Mapping[str, str]) -> dict[str, str]:
    """The same answers by the same keys, those that agree in the same words: the shortest of them."""
    names = list(answers)
    groups = group([answers[name] for name in names])
    shortest = [min((answers[names[place]] for place in places), key=len) for places in groups]
    found = {names[place]: said for places, said in zip(groups, shortest, strict=True) for place in places}
    return {name: found[name] for name in names}


def content(text: str) -> frozenset[str]:
    """The content words of a text, stemmed, and its numbers without thousands separators."""
    found = set()
    for word in _WORD.findall(text.casefold()):
        if word[0].isdigit():
            number = word.rstrip(".,").replace(",", "")
            found.add(number.rstrip("0").rstrip(".") if "." in number else number)
        elif word in _SMALL:
            found.add(_SMALL[word])
        elif word not in _STOP:
            found.add(stem(word))
    return frozenset(found)


def numbers(text: str) -> frozenset[str]:
    """The numbers of a text, those in words up to twelve among them, without thousands separators."""
    return frozenset(word for word in content(text) if word[0].isdigit() and word.strip("0"))


def fits(answer: str, question: str) -> bool:
    """Whether an answer is of the kind that is asked for: to "how many", a number or a word for one."""
    if not _HOW_MANY.search(question):
        return True
    words = {stem(word) for word in _WORD.findall(answer.casefold()) if not word[0].isdigit()}
    return bool(numbers(answer)) or bool(words & (_QUANTITIES | _SCALES)) or rejects(answer)


def made_up(answer: str, question: str, text: str) -> bool:
    """Whether a model made an answer of something else that a text says.

    It did where the answer repeats what is asked about in words that the text nowhere has, and little else; or where it
    tells a thing by itself ("Salaries are paid together with your next salary.").
    """
    found = _ASKED_ABOUT.search(question)
    asked = content(found[1]) - _ASKING if found else frozenset[str]()
    words = [stem(word) for word in _WORD.findall(answer.casefold()) if not word[0].isdigit()]
    repeated = asked & set(words)
    if not repeated or numbers(answer):
        return False
    rest = content(answer) - content(question)
    if not repeated & content(text):
        return len(rest) <= _LITTLE
    return all(words.count(word) > 1 for word in repeated) and re.search(r"[,;:.]\s", answer) is None


def asks_who(question: str) -> bool:
    """Whether a question asks for somebody."""
    return _WHO.search(question) is not None


def names_somebody(answer: str, text: str) -> bool:
    """Whether an answer holds a name: a word that the text it was read in only ever writes with a capital letter."""
    words = {word for word in re.findall(r"[^\W\d_]+", answer) if word.casefold() not in _STOP}
    written = set(re.findall(r"[^\W\d_]+", text))
    return any(word[0].isupper() and word in written and word.lower() not in written for word in words)


def is_reported(text: str) -> bool:
    """Whether a text says that some say something, or once did, rather than that it is so."""
    return _REPORTED.search(text) is not None


def grounding(answer: str, text: str, known: str = "") -> float:
    """The share, in [0, 1], of an answer's content words that stand in a text; 1 for an answer without any.

    Words of `known`, such as a question, are left out: they tell nothing about who gives the answer.
    """
    words = content(answer) - _YES_NO - content(known)
    return len(words & content(text)) / len(words) if words else 1.0


def is_yes_or_no(answer: str) -> bool:
    """Whether an answer is "yes" or "no" and nothing else."""
    return bool(words := content(answer)) and words <= _YES_NO


def in_full(question: str, answers: Sequence[str] = ()) -> tuple[str, str]:
    """Yes and No to a question as statements.

    They are an answer that says just what is asked, word for word, and that with "not" after the question's own verb;
    where no answer is such a one, "Yes, it may" and "No, it may not", by that verb.
    """
    found = _ASKS_YES_NO.match(question)
    verb, asker = (found[1].lower(), found[2]) if found else ("is", None)
    for answer in answers if found else ():
        statement = _YES.sub("", answer)
        said = re.findall(rf"\b{verb}\b", statement)
        if len(said) == 1 and content(statement) == content(question) and not negative(statement):
            return statement, re.sub(rf"\b{verb}\b", f"{verb} not", statement)
    who = "you" if asker else "they" if verb in _OF_MANY else "it"
    return f"Yes, {who} {verb}", f"No, {who} {verb} not"


def bearing(text: str, question: str) -> float:
    """The share, in [0, 1], of what a question is about that stands in a text; 1 for a question about nothing."""
    words = content(question) - _ASKING
    return len(words & content(text)) / len(words) if words else 1.0


def negative(text: str) -> bool:
    """Whether a text denies: "no", "not", "never", or a contraction of "not"."""
    return re.search(r"\b(?:no|not|never|cannot|neither|nor|without)\b|n['\u2019]t\b", text, re.IGNORECASE) is not None


def rejects(text: str) -> bool:
    """Whether a text calls something a myth, or untrue."""
    return _REJECTS.search(text) is not None


def best_sentence(text: str, *wanted: str) -> str:
    """The sentence of `text` that shares most with what is wanted, the first of `wanted` counting most.

    Where the first has numbers and some sentence has them all, it is one of those; a heading only where all are.
    """
    weights = [(content(part), 2.0 if place == 0 else 1.0) for place, part in enumerate(wanted)]
    numbers = {word for word in (weights[0][0] if weights else ()) if word[0].isdigit()}

    def shared(sentence: str) -> tuple[bool, bool, float]:
        words = content(sentence)
        score = sum(weight * len(words & part) / len(part) for part, weight in weights if part)
        return numbers <= words, not sentence.startswith("#"), score

    return max(sentences(text), key=shared, default="")


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """The English stem of a word in lower case."""
    import snowballstemmer

    stemmed: str = snowballstemmer.stemmer("english").stemWord(word)
    return stemmed
