"""Statements cut out of passages, and the changes that make a passage contradict one, or say nothing of it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

# A statement begins with neither a pronoun nor a word that ties it to what stands before.
_TIED = re.compile(
    r"(?:he|she|it|they|this|that|these|those|his|her|its|their|there|here|we|you|i|but|and|or|so|then|also|for|in "
    r"addition|such|some|one|both|another|other|after that|as a result|if|when|while|because|where|which|who)\b",
    re.IGNORECASE,
)
_OPENING = re.compile(r"^(?:however|moreover|furthermore|additionally|today|meanwhile|finally),\s+", re.IGNORECASE)
_ASIDE = re.compile(r"\s*[(\[][^()\[\]]{0,120}[)\]]")
_CLAUSE = re.compile(
    r"(?:;|, (?:which|who|where|while|although|but|so|and then|because|when)\b|,? and (?:he|she|it|they)\b)"
)
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|has been|have been|had been|can|could|will|would|must|may|should)\b", re.IGNORECASE
)
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|had|can|will|would|may|must|did|does|\w{3,}ed|\w{3,}s)\b")

_MONTHS = "January February March April May June July August September October November December".split()
_YEAR = re.compile(r"\b(1[5-9]\d\d|20[0-3]\d)\b")
_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?![\w-])")
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)})\b")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w'.-]+(?: (?:of |de |the |von )?[A-Z][\w'.-]+){0,3}")
_NUMERALS = "two three four five six seven eight nine ten eleven twelve".split()
_NUMERAL = re.compile(rf"\b({'|'.join(_NUMERALS)})\b", re.IGNORECASE)
_PAIRS = """
increase/decrease increases/decreases increased/decreased rise/fall rises/falls rose/fell higher/lower more/less
most/least larger/smaller largest/smallest bigger/smaller longer/shorter longest/shortest older/younger oldest/youngest
early/late earlier/later before/after first/last northern/southern north/south eastern/western east/west left/right
upper/lower won/lost wins/loses winner/loser allowed/forbidden legal/illegal public/private male/female man/woman
men/women boy/girl mother/father son/daughter brother/sister husband/wife king/queen best/worst better/worse
strong/weak hot/cold warm/cool fast/slow true/false safe/dangerous healthy/unhealthy possible/impossible common/rare
always/never all/none many/few opened/closed open/closed founded/dissolved built/demolished married/divorced
started/ended begins/ends began/ended accepted/rejected supported/opposed successful/unsuccessful positive/negative
same/different domestic/foreign rural/urban summer/winter day/night inside/outside above/below include/exclude
includes/excludes improves/worsens improved/worsened reduces/raises reduced/raised prevent/cause prevents/causes
black/white red/green blue/yellow gold/silver French/German English/Italian American/British Russian/Japanese
""".split()
_OPPOSITE = {a: b for pair in _PAIRS for a, b in (tuple(pair.split("/")), tuple(reversed(pair.split("/"))))}
_OPPOSED = re.compile(rf"\b({'|'.join(sorted(_OPPOSITE, key=len, reverse=True))})\b")

# "{}" is the view that is rejected. In each but the last two it is a clause of its own.
_REJECTIONS = (
    "It is a myth that {}.",
    "It is often claimed that {}, but that is wrong.",
    "Many people believe that {}. There is no evidence for it.",
    "Contrary to what is often said, it is not the case that {}.",
    "The story that {} has been shown to be false.",
    "Some still repeat that {}; records show otherwise.",
    "The claim that {} does not hold up.",
    "An old rumor has it that {}. It was made up.",
    "No, it is not true that {}.",
    "Earlier editions stated that {}. This was an error.",
    '"{}": a sentence one hears a lot, and a mistaken one.',
    "Fact check: {}. Verdict: false.",
)


def statements(sentences: Sequence[str]) -> list[tuple[int, str]]:
    """The sentences, by place, that can stand alone, shortened to what they say first."""
    found = []
    for place, sentence in enumerate(sentences):
        text = _ASIDE.sub("", _OPENING.sub("", sentence.strip()))
        text = _CLAUSE.split(text, maxsplit=1)[0].strip(" ,.") if len(text.split()) > 14 else text.strip(" ,.")
        words = text.split()
        if (
            5 <= len(words) <= 32
            and text[0].isupper()
            and not _TIED.match(text)
            and _VERB.search(text)
            and "?" not in text
        ):
            found.append((place, f"{text}."))
    return found


def changed(text: str, draw: random.Random, names: Sequence[str]) -> tuple[str, str] | None:
    """What to replace in a statement, and by what, so that it says something else: a number, a date, a name, a word.

    Args:
        text: The statement.
        draw: Where chance comes from.
        names: Names that can stand for others.

    Returns:
        The words to replace and the new ones, or None where there is nothing to change.
    """
    ways: list[Callable[[], tuple[str, str] | None]] = [
        lambda: _replaced(
            _YEAR, text, draw, lambda old: str(int(old) + draw.choice((-1, 1)) * draw.choice((1, 2, 3, 7, 10, 24, 50)))
        ),
        lambda: _replaced(_NUMBER, text, draw, lambda old: _other_number(old, draw)),
        lambda: _replaced(_MONTH, text, draw, lambda old: draw.choice([month for month in _MONTHS if month != old])),
        lambda: _replaced(
            _NUMERAL, text, draw, lambda old: draw.choice([word for word in _NUMERALS if word != old.lower()])
        ),
        lambda: _replaced(
            _NAME, text, draw, lambda old: draw.choice([name for name in names if name not in text] or [old])
        ),
        lambda: _replaced(_OPPOSED, text, draw, lambda old: _OPPOSITE[old]),
    ]
    draw.shuffle(ways)
    for way in ways:
        found = way()
        if found and found[0] != found[1]:
            return found
    return None


def denied(text: str) -> str | None:
    """The statement with "not" after its first auxiliary, or None where it has none or denies already."""
    if re.search(r"\b(?:not|never|no|nor|neither|without)\b|n't\b", text, re.IGNORECASE):
        return None
    match = _AUXILIARY.search(text)
    if match is None:
        return None
    words = match[0].split()
    return f"{text[: match.start()]}{words[0]} not{''.join(f' {word}' for word in words[1:])}{text[match.end() :]}"


def rejected(text: str, draw: random.Random) -> str:
    """Sentences that give a statement as a view and reject it."""
    frame = draw.choice(_REJECTIONS)
    bare = text.rstrip(".")
    inner = (
        bare
        if frame.startswith(('"', "Fact"))
        else bare[0].lower() + bare[1:]
        if bare[:3] in ("The", "A ", "An ")
        else bare
    )
    return frame.format(inner)


def asserted(question: str, answer: str, draw: random.Random) -> str:
    """One of several ways to say that the answer to a question is this one."""
    question, answer = question.strip(), answer.strip().rstrip(".")
    ways = [f'The answer to "{question}" is: {answer}', f"{question} {answer}"]
    full = declared(question, answer)
    return draw.choice([*ways, full, full] if full else ways)


def declared(question: str, answer: str) -> str | None:
    """Question and answer as one sentence, where a simple rule makes one; an answer that is one stays as it is."""
    asked = question.rstrip("? ")
    if len(answer.split()) > 7 and _VERB.search(answer):
        return f"{answer[0].upper()}{answer[1:]}."
    rules: list[tuple[str, str]] = [
        (r"(?:what|which|who) (is|are|was|were) (.+)", "{1} {0} {answer}."),
        (r"who (\w+(?:ed|s|ote|ang|on|ade|ew|as)) (.+)", "{answer} {0} {1}."),
        (r"(?:when|in (?:which|what) year) (was|were|is) (.+) (\w+(?:ed|en|n|t|de|ng))", "{1} {0} {2} in {answer}."),
        (r"where (was|were|is) (.+) (\w+(?:ed|en|rn|lt|de))", "{1} {0} {2} in {answer}."),
        (r"where (is|are|was|were) (.+)", "{1} {0} in {answer}."),
        (r"(.+) (?:in|at|to|by|with|for|of) (?:which|what) (?:\w+ ){0,2}\w+", "{0}: {answer}."),
    ]
    for pattern, form in rules:
        match = re.fullmatch(pattern, asked, re.IGNORECASE)
        if match:
            text = form.format(*match.groups(), answer=answer)
            return text[0].upper() + text[1:]
    return None


def names_in(texts: Sequence[str]) -> list[str]:
    """Names that stand inside the sentences of texts, each once, in order."""
    return list(dict.fromkeys(name for text in texts for name in _NAME.findall(text) if len(name) > 3))


def _replaced(
    pattern: re.Pattern[str], text: str, draw: random.Random, other: Callable[[str], str]
) -> tuple[str, str] | None:
    found = [match[0] for match in pattern.finditer(text)]
    if not found:
        return None
    old = draw.choice(found)
    return old, other(old)


def _other_number(old: str, draw: random.Random) -> str:
    value = float(old.replace(",", ""))
    new = value * draw.choice((0.1, 0.5, 0.8, 1.2, 1.5, 2, 3, 10)) + draw.choice((0, 1, 2, 5))
    if "." in old:
        return f"{new:.{len(old.rpartition('.')[2])}f}"
    return f"{round(new):,}" if "," in old else str(round(new))
