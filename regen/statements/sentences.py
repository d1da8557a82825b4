"""A sentence, taken apart into words, names and values."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from regen.fence import printable
from regen.readings import stem
from regen.statements.values import BYTES, CAPITAL_DAYS, DAYS, TOKEN, Value, left_open, value_of
from regen.statements.words import DENYING, EMPTY, ROUGHLY

PLAIN_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
POSSESSIVE = re.compile(r"['\u2019]s$")
_PREPOSED = re.compile(r"\b(?:on|by|in|at|from|until|till|before|after|to) the $", re.IGNORECASE)
_MARKUP = re.compile(r"[*_|>]+|^[\s#-]+|^\s*\d+[.)]\s")
# What looks like a denial or an amount and is none.
_HARMLESS = re.compile(
    r"\b(?:no|not) (?:more|later|less|fewer|sooner|earlier|longer than|greater|only|just|extra|additional|charge|cost"
    r"|further)\b|\b(?:whether or not|up to|at all|if not|why not|no\. \d)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Statement:
    """One sentence, taken apart."""

    text: str
    sequence: tuple[str, ...]
    """Stems of its words in order, those of names too; "" where a value or a mark stands."""
    values: tuple[Value, ...]
    names: frozenset[str]
    which: frozenset[str]
    """Numbers that say which one: versions, sections, rooms."""
    denies: int
    words: frozenset[str]

    @property
    def phrases(self) -> frozenset[str]:
        """Its names, the words of each together."""
        return frozenset(" ".join(self.sequence[slice(*place)]) for place in name_places(self, self.names))

    def without(self, names: Collection[str]) -> str:
        """The sentence with "it" in place of these names."""
        words = (POSSESSIVE.sub("", word) for word in PLAIN_WORD.findall(self.text))
        known = {word for word in words if stem(word.lower()) in names}
        pattern = "|".join(map(re.escape, sorted(known))) or "(?!)"
        return re.sub(rf"\b(?:{pattern})\b(?:[ -](?:{pattern})\b)*", "it", self.text)


def proper_nouns(texts: Iterable[str]) -> frozenset[str]:
    """The words, in lower case, that these sentences as a rule write with a capital where none is due."""
    capital: dict[str, int] = {}
    for text in texts:
        for place, word in enumerate(re.findall(r"[^\W\d_]+", text)):
            if place and word[0].isupper():
                capital[word.lower()] = capital.get(word.lower(), 0) + 1
            elif word[0].islower():
                capital[word] = capital.get(word, 0) - 1
    return frozenset(word for word, count in capital.items() if count > 0 and len(word) > 1)


def statement(sentence: str, proper: Collection[str], *, title: bool = False) -> Statement:
    """A sentence, taken apart.

    Args:
        sentence: As it stands in a document.
        proper: Of `proper_nouns`, over all sentences.
        title: It is a title, in which capitals alone make no name.
    """
    # Soft hyphens and what has no width are in no word.
    seen = "".join(letter for letter in sentence if unicodedata.category(letter) != "Cf")
    text = " ".join(_MARKUP.sub(" ", printable(seen)).split())
    plain = re.sub(r"\bup to\b", "at most", text, flags=re.IGNORECASE)
    plain = re.sub(r"\bwithout (?=having|needing)", "not ", _HARMLESS.sub(" ", plain))
    for sign, scale in (("C", "Celsius"), ("F", "Fahrenheit")):
        plain = re.sub(rf"\s?\u00b0\s?{sign}\b", f" degrees {scale}", plain)
    for way, verb in (("up", "rose"), ("down", "fell")):
        plain = re.sub(rf"\b(?:go|goes|going|gone|went) {way}\b", verb, plain)
    sequence: list[str] = []
    values: list[Value] = []
    names, which, words = set(), set(), set()
    denies, rough, named = 0, False, ""
    for match in TOKEN.finditer(plain):
        kind, shown = match.lastgroup or "", match.group().strip()
        if kind in ("sign", "digits", "words", "scale", "after", "th"):
            kind = "number"
        if kind == "ordinal" and not _tells_when_or_where(plain[: match.start()], sequence):
            kind = "word" if shown.isalpha() else "number"
        if kind == "word":
            word = shown.lower().replace("\u2019", "'")
            denies += is_denial(word)
            rough = word in ROUGHLY or (rough and word in EMPTY)
            if word.capitalize() in CAPITAL_DAYS and shown[0].isupper():
                values.append(Value("weekday", (float(DAYS.index(word.removesuffix("s"))),), frozenset(), shown))
                sequence.append("")
                continue
            if word in EMPTY or word.endswith("n't") or word in DENYING:
                sequence.append(f"~{word}")
                continue
            stemmed = stem(word.removesuffix("'s"))
            known = word.removesuffix("'s") in proper
            # Within a sentence a capital makes a name; at its beginning, and in a title, only beside one.
            inside = not title and bool(sequence) and sequence[-1] != ""
            if shown[0].isupper() and word not in BYTES and (known or inside or (named and sequence[-1] == named)):
                names.add(stemmed)
                named = stemmed
            words.add(stemmed)
            sequence.append(stemmed)
            continue
        if kind == "which":
            which.add(" ".join(shown.lower().split()))
        elif kind not in ("link", "phone", "stop"):
            value = value_of(kind, shown, match, plain)
            if value is not None:
                open_ = left_open(value, plain[: match.start()])
                values.append(replace(value, rough=rough, within=open_))
                rough = False
        sequence.append("")
    return Statement(text, tuple(sequence), tuple(values), frozenset(names), frozenset(which), denies, frozenset(words))


def _tells_when_or_where(before: str, sequence: Sequence[str]) -> bool:
    """Whether an ordinal number after these words says when, where or in what place, and not which of several."""
    said = any(word and not word.startswith("~") for word in sequence)
    return said and (_PREPOSED.search(before) is not None or not before.endswith("the "))


def name_places(side: Statement, only: frozenset[str]) -> list[tuple[int, int]]:
    """Where the names of one side begin and end of which the other has not every word."""
    found: list[tuple[int, int]] = []
    for place, word in enumerate(side.sequence):
        if word in side.names:
            start = found.pop()[0] if found and found[-1][1] == place else place
            found.append((start, place + 1))
    return [phrase for phrase in found if only.intersection(side.sequence[slice(*phrase)])]


def is_denial(word: str) -> bool:
    """Whether a word denies, however its apostrophe is written."""
    plain = word.lower().replace("\u2019", "'")
    return plain in DENYING or plain.endswith("n't")
