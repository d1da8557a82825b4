"""What a sentence states, by rules alone: amounts, dates, names, denials, and in what two sentences differ.

Two sentences of one company's documents share most of their words without being about the same thing: another product,
another year, another group of people. So a difference counts only where nothing else tells the two subjects apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Literal

from regen.fence import printable
from regen.judges.differences import DOWN, NEGATION, UP
from regen.readings import stem

_MONTHS = {
    name[:cut]: number
    for number, name in enumerate(
        "january february march april may june july august september october november december".split(), 1
    )
    for cut in (3, len(name))
} | {"sept": 9}
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_UNITS = {
    "second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "hr": 3600, "day": 86_400, "week": 604_800,
    "fortnight": 1_209_600, "month": 2_629_746, "quarter": 7_889_238, "year": 31_556_952, "decade": 315_569_520,
}  # fmt: skip
_ADVERBS = {"hourly": 3600, "daily": 86_400, "nightly": 86_400, "weekly": 604_800, "fortnightly": 1_209_600,
            "monthly": 2_629_746, "quarterly": 7_889_238, "annually": 31_556_952, "yearly": 31_556_952}  # fmt: skip
_BYTES = {"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kilobyte": 1e3, "megabyte": 1e6, "gigabyte": 1e9,
          "terabyte": 1e12}  # fmt: skip
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "k": 1e3, "m": 1e6,
           "mn": 1e6, "bn": 1e9, "b": 1e9, "dozen": 12}  # fmt: skip
_CURRENCIES = {"$": "usd", "dollar": "usd", "dollars": "usd", "\u20ac": "eur", "euro": "eur", "euros": "eur",
               "\u00a3": "gbp", "pound sterling": "gbp", "pounds sterling": "gbp"}  # fmt: skip
_ONES = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
_TENS = {word: 10 * n for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}

_ANY_MONTH = rf"(?:{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\.?"
_ANY_UNIT = f"(?:{'|'.join(_UNITS)})s?"
_IN_WORDS = f"(?:{'|'.join([*_TENS, *sorted(_ONES, key=len, reverse=True), 'hundred', 'dozen'])})"
_TOKEN = re.compile(
    rf"""
      (?P<link> [\w.+-]+@[\w-]+\.[\w.-]+ | https?://\S+ | www\.\S+ | `[^`\n]*` | (?<!\w)/[\w/.-]+ )
    | (?P<iso> \b(?:19|20)\d\d[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])\b )
    | (?P<dmy> \b\d{{1,2}}(?:st|nd|rd|th)?(?:\ of)?\ (?i:{_ANY_MONTH})\b(?:,?\ (?:19|20)\d\d\b)? )
    | (?P<mdy> \b(?i:{_ANY_MONTH})\ \d{{1,2}}(?:st|nd|rd|th)?\b(?!:)(?:,?\ (?:19|20)\d\d\b)? )
    | (?P<my> \b(?!may\b|mar\b|dec\b|sep\b|jan\b)(?i:{_ANY_MONTH}),?\ (?:of\ )?(?:19|20)\d\d\b )
    | (?P<quarter> \bQ[1-4]\b(?:\ (?:of\ )?(?:FY)?\d{{2,4}})? )
    | (?P<fiscal> \b(?:[Ff]iscal(?:\ [Yy]ear)?|FY)\ ?(?:20)?\d\d\b )
    | (?P<clock> \b\d{{1,2}}(?:[:.]\d\d)?\s?(?:[ap]\.?m\b\.?|o'clock) | \b[012]?\d:[0-5]\d\b(?:\s?[ap]\.?m\b\.?)?
        | \b(?i:noon|midnight|midday)\b
        | \b(?i:{"|".join(_ONES)})(?:\ o'clock|\ in\ the\ (?:morning|afternoon|evening))\b )
    | (?P<phone> \+\d{{1,3}}[ -]?\(?\d[\d ()-]{{5,}}\d | \(?\b\d{{2,4}}\)?[ -]\d{{2,4}}[ -]\d{{2,6}}\b
        | \b\d{{7,}}\b(?!,) )
    | (?P<which> (?<![\w.])\d+(?:\.\d+){{2,}}\b | \b(?i:v)\d+(?:\.\d+)*\b | \#\d+ | \b[A-Z]{{1,6}}-?\d[\w-]*\b
        | \b(?i:version|release|firmware|section|chapter|step|page|article|rule|phase|stage|error|code|status(?:\ code)?
          |room|building|floor|figure|table|appendix|clause|number|no\.|iso|rfc|tier|level|build|edition|form|line
          |ticket|invoice|item|gate|terminal|port|zone|unit|bay|lane|class|grade|option|model|series)\ \d[\d.]*\b )
    | (?P<often> \bevery\ (?:(?:\d+|{_IN_WORDS}|other)\ )?{_ANY_UNIT}\b
        | \b(?:once|twice|(?:\d+|{_IN_WORDS})\ times)\ (?:a|an|per|each|every)\ {_ANY_UNIT}\b
        | \b(?i:{"|".join(_ADVERBS)})\b(?=\s*(?:[.,;:)]|$|(?:at|on|by|in|and|or|to|from|for|with|after|before)\b)) )
    | (?P<span> \b(?:within|for|after|least|than|lasts|takes|under|over|in)\ (?:a|an|one)\ {_ANY_UNIT}\b )
    | (?P<per> (?:\b(?:a|an|per|each)\ |/\s?){_ANY_UNIT}\b )
    | (?P<year> (?<![\d.,$€£])\b(?:19|20)\d\d\b(?![.,]?\d|\s?%|-) )
    | (?P<number> (?P<sign>[$€£¥]\s?|\b(?:USD|EUR|GBP)\ )?
        (?: (?<![\w.])(?P<digits>\d+(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)
          | \b(?P<words>(?i:{_IN_WORDS})(?:(?:[\ -]|\ and\ )(?i:{_IN_WORDS}|thousand|million))*)\b )
        (?:[\ -]?(?P<scale>(?i:hundred|thousand|million|billion|trillion|dozen|mn|bn)|[kKMB])\b(?!-))?
        (?P<after>\s?%|\ ?(?i:percent|per\ cent|percentage\ points?|dollars?|euros?|pounds?\ sterling|USD|EUR|GBP)\b)?
        (?P<th>(?:st|nd|rd|th)\b)? )
    | (?P<word> [^\W\d_]+(?:['\u2019][^\W\d_]+)* )
    | (?P<stop> [.;:,()!?] )
    """,
    re.VERBOSE,
)
_EFFECTIVE = re.compile(
    r"\b(?:from|since|as of|starting|effective|until|beginning|before|after)(?: on)?\s+"
    rf"(?:\d|{_ANY_MONTH})",
    re.IGNORECASE,
)
_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_POSSESSIVE = re.compile(r"['\u2019]s$")
_LARGE = 100_000.0
"""Amounts from here on may be told in fewer digits."""
_MARKUP = re.compile(r"[*_|>]+|^[\s#-]+|^\s*\d+[.)]\s")
# What looks like a denial or an amount and is none.
_HARMLESS = re.compile(
    r"\b(?:no|not) (?:more|later|less|fewer|sooner|earlier|longer than|greater|only|just|extra|additional|charge|cost"
    r"|further)\b|\b(?:whether or not|up to|at all|if not|why not|no\. \d)",
    re.IGNORECASE,
)
_NEVER = NEGATION - set("without false untrue incorrect wrong mistaken contrary rejected denied denies deny".split())
_AT_LEAST = re.compile(
    r"\b(?:at least|more than|no(?:t)? less than|over|above|minimum of|exceed\w*)\s*$", re.IGNORECASE
)
_AT_MOST = re.compile(
    r"\b(?:up to|at most|no(?:t)? more than|less than|fewer than|under|below|maximum of)\s*$", re.IGNORECASE
)
_RANGE = re.compile(r"(\d[\d,.]*)\s*(?:to|-|\u2013|or)\s*$")
_ROUGHLY = frozenset("about approximately roughly around nearly almost circa over exceed exceeds than some".split())

_EMPTY = frozenset(
    "a an and are as at be been being but by can could did do does for from had has have he her his how i if in "
    "into is it its may me might more most must my no not of on or our she should so some such than that the their "
    "them then there these they this those to us was we were what when where which who whom will with would you "
    "your also any all each every about after before between both during only other over own same through under "
    "until up very out per just now than currently always usually generally please here however still already today "
    "at least exactly".split()
)
_BEFORE = frozenset("for of to in at from by with on against".split())
# Stems of verbs that hold an amount or a state to its subject: which of them is used says little.
_LINKING = frozenset(
    stem(word)
    for word in "accept accepts allow allows permit permits support supports handle handles get gets receive receives "
    "have has hold holds take takes give gives grant granted offer offers provide provides include includes come comes "
    "cost costs pay pays paid charge charges priced set amount amounts total stand stands reach reached make made keep "
    "kept keeps retain retained store stored stay stays remain remains last lasts run runs need needs require requires "
    "required must limit limited capped cap restricted maximum max most least minimum enforce apply applies entitled "
    "earn earns may can should request requested submit submitted send sent file filed hand expect expected contain "
    "contains consist serve serves process processed deliver delivered ship shipped return returned use uses used "
    "begin begins start starts open opens close closes end ends finish finishes happen happens occur occurs place "
    "reported report reports say says state states stated book booked record recorded employ employs become becomes "
    "available work works operate operates fit fits lead leads head headed led manage manages own owns".split()
)
_OPPOSITES = [
    (
        "allow permit let accept welcom admit authoriz approv ~may ~can",
        "prohibit forbid forbidden ban disallow refus reject",
    ),
    ("enabl activ", "disabl deactiv"),
    ("open", "close shut"),
    ("includ cover", "exclud except"),
    ("avail offer support ~can", "retir discontinu withdrawn withdraw abolish unsupport deprec"),
    ("requir mandatori compulsori oblig obligatori need ~must", "option voluntari unnecessari waiv"),
    ("public", "privat confidenti secret"),
    ("true fact", "fals untru wrong"),
]
_UN = ("un", "non")
# Words that another prefix turns into their opposite: "in", "im", "il", "ir" and "dis" begin many words that are none.
_DENIABLE = frozenset(
    """
    accurate active adequate appropriate capable compatible complete consistent correct dependent direct eligible
    flexible formal frequent secure significant sufficient tolerant valid visible possible mature mobile mortal patient
    perfect personal polite probable proper legal legible liberal licit logical literate regular relevant replaceable
    responsible reversible able abled advantage agree agrees agreed allow allows allowed approve approves approved
    connect connects connected continue continues continued honest like likes liked loyal obey obeys satisfied trust
    trusts
    """.split()
)
_ANY_UN = ("in", "im", "il", "ir", "dis")
_REJECTED = frozenset("~myth ~myths ~misconception ~misconceptions ~fallacy ~hoax ~debunked ~refuted longer".split())
_MOVES = {
    way: frozenset(map(stem, words - set(
        "higher more above exceed exceeds up upward lower less fewer below down downward loss contract contracted "
        "cut cuts raise raises raised gain gains expanded".split()
    )))
    for way, words in (("up", UP), ("down", DOWN))
}  # fmt: skip
_SIGNS = frozenset(word for pair in _OPPOSITES for side in pair for word in side.split())
_SAYS_LITTLE = (
    _LINKING
    | _MOVES["up"]
    | _MOVES["down"]
    | frozenset(
        map(stem, "new old former previous earlier updated revised restated current present draft latest".split())
    )
)
_ONCE = frozenset(
    map(
        stem,
        "founded established launched launch opened acquired built introduced retired discontinued signed incorporated "
        "born inaugurated completed merged deadline expires expire due ends begins starts start scheduled planned "
        "moves move released release effective closes switched moved began adopted joined started "
        "ended certified".split(),
    )
)
# Words for what somebody or something is, of which there is one: who leads, where it is, who made it.
_ROLES = [
    frozenset(map(stem, words.split()))
    for words in (
        "lead leads led leader head heads headed manage manages managed manager director chief charge responsible "
        "responsibility chair chairs chaired chairwoman chairman president oversees oversee run runs supervisor",
        "own owns owned owner maintain maintains maintained maintainer maintainers belongs",
        "contact contacts coordinator coordinates officer representative",
        "located location based headquarters headquartered hosted hosts host stored stores kept keeps situated held "
        "housed sits office offices moved moves region",
        "supplier supplied supplies supply vendor provider provides provided delivered delivers insurer insured "
        "insures manufacturer manufactured made carrier audited auditor audits caterer caters catered contractor built",
    )
]
_IS = frozenset("~by ~is ~are ~was ~be".split())
_INTO = _IS | frozenset("~in ~at ~with ~from".split())
_POSTS = frozenset(
    map(
        stem,
        "head leader manager director chief chair president owner maintainer contact supplier vendor provider insurer "
        "auditor caterer contractor coordinator officer representative supervisor carrier manufacturer where".split(),
    )
) | {"~where", "~who"}


Kind = Literal["number", "date", "denial", "direction", "name"]


@dataclass(frozen=True)
class Value:
    """One amount, date or the like: what kind it is, what it comes to, what it counts, and how it stands there."""

    kind: str
    amount: tuple[float, ...]
    of: frozenset[str]
    shown: str
    rough: bool = False
    within: tuple[float, float] | None = None
    """What "at least", "up to" or a range leaves open, where the amount is its end."""


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
        return frozenset(" ".join(self.sequence[slice(*place)]) for place in _phrases(self, self.names))

    def without(self, names: Collection[str]) -> str:
        """The sentence with "it" in place of these names."""
        words = (_POSSESSIVE.sub("", word) for word in _PLAIN_WORD.findall(self.text))
        known = {word for word in words if stem(word.lower()) in names}
        pattern = "|".join(map(re.escape, sorted(known))) or "(?!)"
        return re.sub(rf"\b(?:{pattern})\b(?:[ -](?:{pattern})\b)*", "it", self.text)


@dataclass(frozen=True)
class Difference:
    """What two statements on one thing differ in: in words, and what each of them says, where both say something."""

    kind: Kind
    what: str
    said: tuple[str, str] | None = None

    def reason(self, *, exchanged: bool = False) -> str:
        """In words, with what the first says first, or what the second says where they are `exchanged`."""
        if self.said is None:
            return self.what
        return f"{self.what}: {' / '.join(self.said[::-1] if exchanged else self.said)}"


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
    for way, verb in (("up", "rose"), ("down", "fell")):
        plain = re.sub(rf"\b(?:go|goes|going|gone|went) {way}\b", verb, plain)
    sequence: list[str] = []
    values: list[Value] = []
    names, which, words = set(), set(), set()
    denies, rough, before, named = 0, False, "", ""
    for match in _TOKEN.finditer(plain):
        kind, shown = match.lastgroup or "", match.group().strip()
        if kind in ("sign", "digits", "words", "scale", "after", "th"):
            kind = "number"
        if kind == "word":
            word = shown.lower().replace("\u2019", "'")
            denies += _is_denial(word)
            rough = word in _ROUGHLY or (rough and word in _EMPTY)
            before = word
            if word.capitalize() in _CAPITAL_DAYS and shown[0].isupper():
                values.append(Value("weekday", (float(_DAYS.index(word.removesuffix("s"))),), frozenset(), shown))
                sequence.append("")
                continue
            if word in _EMPTY or word.endswith("n't") or word in _NEVER:
                sequence.append(f"~{word}")
                continue
            stemmed = stem(word.removesuffix("'s"))
            known = word.removesuffix("'s") in proper
            # Within a sentence a capital makes a name; at its beginning, and in a title, only beside one.
            inside = not title and bool(sequence) and sequence[-1] != ""
            if shown[0].isupper() and (known or inside or (named and sequence[-1] == named)):
                names.add(stemmed)
                named = stemmed
            words.add(stemmed)
            sequence.append(stemmed)
            continue
        if kind == "which":
            which.add(" ".join(shown.lower().split()))
        elif kind not in ("link", "phone", "stop"):
            value = _value(kind, shown, match, plain, before)
            if value is not None:
                open_ = _within(value, plain[: match.start()])
                values.append(replace(value, rough=rough, within=open_))
                rough = False
        before = shown.lower()
        sequence.append("")
    return Statement(text, tuple(sequence), tuple(values), frozenset(names), frozenset(which), denies, frozenset(words))


_CAPITAL_DAYS = frozenset(day.capitalize() + end for day in _DAYS for end in ("", "s"))


def difference(a: Statement, b: Statement) -> Difference | None:
    """In what two sentences differ that seem to be about the same thing; None where nothing is to be seen.

    Args:
        a: One sentence.
        b: Another one, whose words are mostly the same.
    """
    if a.which and b.which and not a.which & b.which:
        return None
    only_a, only_b = a.names - b.names, b.names - a.names
    if only_a and only_b:
        return None if _denial(a, b) or _kinds_that_differ(a, b) else _by_names(a, b, only_a, only_b)
    kinds = _kinds_that_differ(a, b)
    moves = _moves(a, b)
    if moves and "date" not in kinds:
        return None if other_thing(a, b) else moves
    if kinds:
        return _by_values(a, b, kinds)
    denial = _denial(a, b)
    if (_agree(a, b) and not _REJECTED & {*a.sequence, *b.sequence}) or other_thing(a, b, _SIGNS):
        return None
    return denial


def _by_values(a: Statement, b: Statement, kinds: Mapping[str, tuple[str, str]]) -> Difference | None:
    kinds = dict(kinds)
    # When a figure took effect is no second difference.
    if len(kinds) > 1 and "date" in kinds and any(_takes_effect(side) for side in (a, b)):
        del kinds["date"]
    if len(kinds) != 1 or _denial(a, b) or other_thing(a, b):
        return None
    # Members and non-members are two groups.
    if ("non" in a.words) != ("non" in b.words):
        return None
    ((kind, said),) = kinds.items()
    # What is open to more counts as the same amount, which it need not be.
    if kind == "per" and any(value.within for value in (*a.values, *b.values)):
        return None
    if kind in ("date", "weekday") and not (a.words | b.words) & _ONCE:
        return None
    return Difference("date" if kind in ("date", "weekday", "clock") else "number", f"{_NAMED[kind]} differ", said)


_NAMED = {
    "money": "amounts", "percent": "percentages", "span": "lengths of time", "bytes": "sizes", "count": "numbers",
    "date": "dates", "weekday": "days of the week", "clock": "times of day", "often": "frequencies",
    "per": "what they are counted by",
}  # fmt: skip


def _by_names(a: Statement, b: Statement, only_a: frozenset[str], only_b: frozenset[str]) -> Difference | None:
    if not any(a.words & role - a.names and b.words & role - b.names for role in _ROLES):
        return None
    here, there = (_phrases(side, only) for side, only in ((a, only_a), (b, only_b)))
    if len(here) != 1 or len(there) != 1:
        return None
    if not all(_fills_role(side, phrase) for side, (phrase,) in ((a, here), (b, there))):
        return None
    # Who leads two things is named in both: these are two, and not two leaders of one.
    both = [_phrases(side, a.names & b.names) for side in (a, b)]
    if all(
        any(_fills_role(side, phrase, surely=True) for phrase in places)
        for side, places in zip((a, b), both, strict=True)
    ):
        return None
    if other_thing(a, b, only_a | only_b):
        return None
    return Difference(
        "name",
        "names differ",
        (_as_written(a, *a.sequence[slice(*here[0])]), _as_written(b, *b.sequence[slice(*there[0])])),
    )


def _phrases(side: Statement, only: frozenset[str]) -> list[tuple[int, int]]:
    """Where the names of one side begin and end of which the other has not every word."""
    found: list[tuple[int, int]] = []
    for place, word in enumerate(side.sequence):
        if word in side.names:
            start = found.pop()[0] if found and found[-1][1] == place else place
            found.append((start, place + 1))
    return [phrase for phrase in found if only.intersection(side.sequence[slice(*phrase)])]


def _fills_role(side: Statement, phrase: tuple[int, int], *, surely: bool = False) -> bool:
    """Whether a name is who or where: after "by" or "is", or before "leads"; and, unless `surely`, after "in" or "at".

    What somebody leads, or what is somewhere, may be several things.
    """
    sequence = [word for word in side.sequence[: phrase[0]] if word not in ("~the", "~a", "~now", "~our")]
    after = [word for word in side.sequence[phrase[1] : phrase[1] + 4] if word not in ("~the", "~a", "~now", "~our")]
    if sequence:
        return sequence[-1] in (_IS if surely else _INTO) | _POSTS
    if not after or after[0] not in ("~is", "~was"):
        return bool(after) and any(after[0] in role for role in _ROLES)
    return len(after) > 1 and after[1] in _POSTS


def other_thing(a: Statement, b: Statement, ignored: Collection[str] = ()) -> bool:
    """Whether both have another word in the same place: before the same noun, or after the same preposition.

    "Hourly staff" and "salaried staff" are others, and so are "for visitors" and "for tenants". A verb in that place
    tells nothing.
    """
    ours, others = a.words - b.words, b.words - a.words

    def slots(side: Statement, only: frozenset[str]) -> dict[tuple[str, str], set[str]]:
        found: dict[tuple[str, str], set[str]] = {}
        sequence = side.sequence
        for place, word in enumerate(sequence):
            if word not in only or word in _SAYS_LITTLE or word in ignored:
                continue
            after = sequence[place + 1] if place + 1 < len(sequence) else ""
            if after and not after.startswith("~"):
                found.setdefault(("before", after), set()).add(word)
            ahead = sequence[place - 1] if place else ""
            if ahead.removeprefix("~") in _BEFORE or ahead in _LINKING:
                found.setdefault(("after", ahead), set()).add(word)
        return found

    here, there = slots(a, ours), slots(b, others)
    return bool(here.keys() & there.keys())


def _moves(a: Statement, b: Statement) -> Difference | None:
    """The opposite ways in which they say that something went; None where one says of none, or of both."""
    here, there = ({way for way, words in _MOVES.items() if side.words & words} for side in (a, b))
    if len(here) != 1 or len(there) != 1 or here == there or a.denies % 2 != b.denies % 2:
        return None
    one, other = (min(side.words & (_MOVES["up"] | _MOVES["down"])) for side in (a, b))
    return Difference("direction", "directions differ", (_as_written(a, one), _as_written(b, other)))


def _denial(a: Statement, b: Statement) -> Difference | None:
    """What one of them denies that the other does not; None where nothing, or where it cancels out."""
    opposite = _opposite(a, b) or _opposite(b, a)[::-1]
    if (a.denies + b.denies + bool(opposite)) % 2 == 0:
        return None
    if opposite:
        one, other = opposite
        return Difference("denial", "opposites", (_as_written(a, one), _as_written(b, other)))
    words = _PLAIN_WORD.findall((a if a.denies % 2 else b).text)
    said = next((word for word in words if _is_denial(word)), "without")
    return Difference("denial", f"only one of them denies: {said}")


def _opposite(a: Statement, b: Statement) -> tuple[str, ...]:
    """A word of the one and its opposite in the other, where neither has both."""
    ours, others = frozenset(a.sequence), frozenset(b.sequence)
    for plus, minus in _OPPOSITES:
        affirms, denies = frozenset(plus.split()), frozenset(minus.split())
        if ours & affirms and others & denies and not (ours & denies or others & affirms - {"~can", "~may", "~must"}):
            return min(ours & affirms), min(others & denies)
    # As written: a stem such as "form" is shared by words that are no opposites of each other.
    here, there = ({word.lower() for word in _PLAIN_WORD.findall(side.text)} for side in (a, b))
    for word in sorted(here - there - {"less", "till"}):
        for prefix in (*_UN, *(_ANY_UN if word in _DENIABLE else ())):
            if len(word) > 3 and prefix + word in there:
                return stem(word), stem(prefix + word)
    return ()


def _is_denial(word: str) -> bool:
    plain = word.lower().replace("\u2019", "'")
    return plain in _NEVER or plain.endswith("n't")


def _as_written(side: Statement, *stems: str) -> str:
    shown = {stem(_POSSESSIVE.sub("", word.lower())): word for word in _PLAIN_WORD.findall(side.text)}
    return " ".join(shown.get(stemmed, stemmed.removeprefix("~")) for stemmed in stems)


def _takes_effect(side: Statement) -> bool:
    """Whether it says from when on something holds."""
    return _EFFECTIVE.search(side.text) is not None


def _kinds_that_differ(a: Statement, b: Statement) -> dict[str, tuple[str, str]]:
    """The kinds of values that both have and of which none is the same, with how they stand there."""
    found = {}
    for kind in dict.fromkeys(value.kind for value in a.values):
        here, there = ([value for value in side.values if value.kind == kind] for side in (a, b))
        if kind in ("count", "span", "money"):
            pairs = [(one, other) for one in here for other in there if _comparable(one, other)]
            here = [one for one in here if any(one is first for first, _ in pairs)]
            there = [other for other in there if any(other is second for _, second in pairs)]
        if not here or not there:
            continue
        met = [one for one in here if any(_same(one, other) for other in there)]
        back = [other for other in there if any(_same(one, other) for one in here)]
        if len(met) == len(here) or len(back) == len(there) or (met and len(here) != len(there)):
            continue
        ours = [value.shown for value in here if value not in met]
        theirs = [value.shown for value in there if value not in back]
        found[kind] = (", ".join(ours), ", ".join(theirs))
    return found


def _agree(a: Statement, b: Statement) -> bool:
    """Whether both give the same amount: then one puts in other words what the other denies, as a rule."""
    amounts = ("count", "span", "money", "percent", "bytes")
    return any(
        one.kind == other.kind and one.kind in amounts and _comparable(one, other) and _same(one, other)
        for one in a.values
        for other in b.values
    )


def _comparable(one: Value, other: Value) -> bool:
    if one.kind in ("percent", "bytes"):
        return True
    if one.kind == "money":
        return not (one.of and other.of) or one.of == other.of
    if one.kind == "span":
        return one.of == other.of  # working days and days are not
    return bool(one.of & other.of) or not one.of or not other.of


def _same(one: Value, other: Value) -> bool:
    if one.kind == "date":
        return all(x == y for x, y in zip(one.amount, other.amount, strict=True) if x and y)
    if one.kind in ("weekday", "clock"):
        return one.amount == other.amount
    for bound, exact in ((one, other), (other, one)):
        if bound.within and not exact.within and bound.within[0] <= exact.amount[0] <= bound.within[1]:
            return True
    x, y = sorted((one.amount[0], other.amount[0]))
    if one.rough or other.rough:
        return y - x <= 0.1 * y
    # Months have no length of their own.
    tolerance = 0.035 if one.kind in ("span", "often", "bytes") and one.shown != other.shown else 0.0
    return y - x <= tolerance * y or _rounded(x, y)


def _within(value: Value, before: str) -> tuple[float, float] | None:
    """What the words before an amount leave open: from it on, up to it, or a range that ends with it."""
    if value.kind not in ("money", "percent", "span", "bytes", "count"):
        return None
    amount = value.amount[0]
    if _AT_LEAST.search(before):
        return amount, inf
    if _AT_MOST.search(before):
        return -inf, amount
    begins, ends = _RANGE.search(before), re.search(r"\d[\d,.]*", value.shown)
    if begins is None or ends is None:
        return None
    first, last = (float(one.replace(",", "").rstrip(".") or 0) for one in (begins[1], ends.group()))
    return (amount * first / last, amount) if 0 < first < last else None


def _rounded(x: float, y: float) -> bool:
    """Whether one large amount is the other with fewer digits, two at least: 4.2 million of 4.23 million."""
    if x < _LARGE:
        return False
    digits = min(len(f"{one:.0f}".rstrip("0")) for one in (x, y))
    return digits >= 2 and f"{x:.{digits}g}" == f"{y:.{digits}g}"


def _value(kind: str, shown: str, match: re.Match[str], text: str, before: str) -> Value | None:
    if kind in ("iso", "dmy", "mdy", "my", "quarter", "fiscal", "year"):
        return Value("date", _date(kind, shown), frozenset(), shown)
    if kind == "clock":
        return Value("clock", (_clock(shown),), frozenset(), shown)
    if kind == "often":
        return Value("often", (_often(shown.lower()),), frozenset(), shown)
    unit = re.search(_ANY_UNIT, shown)
    if kind in ("span", "per"):
        seconds = float(_UNITS[_singular(unit.group())]) if unit else 0.0
        return Value(kind, (seconds,), frozenset(), shown.split(maxsplit=1)[1] if kind == "span" else shown)
    if match["th"]:
        return None
    amount = _amount(match)
    if amount is None:
        return None
    after = (match["after"] or "").strip().lower()
    sign = (match["sign"] or "").strip()
    if after.startswith(("%", "per")):
        return Value("percent", (amount,), frozenset(), shown)
    if sign or after:
        currency = _CURRENCIES.get(sign or after, (sign or after).lower())
        return Value("money", (amount,), frozenset({currency}), shown)
    return _counted(amount, shown, text[match.end() : match.end() + 60], match["words"])


def _counted(amount: float, shown: str, rest: str, in_words: str | None) -> Value | None:
    """A number with what it counts: the next words, up to one that says nothing."""
    following = re.match(r"[-\s]*((?:[^\W\d_]+[-\s]*){0,4})", rest)
    units, taken = list[str](), list[str]()
    for word in following.group(1).lower().replace("-", " ").split() if following else []:
        single = _singular(word)
        if single in _UNITS:
            working = frozenset(taken) & {"business", "working", "work"}
            return Value(
                "span",
                (amount * _UNITS[single],),
                frozenset({"working"} if working else ()),
                _with(shown, [*taken, word]),
            )
        if word in _BYTES or single in _BYTES:
            return Value(
                "bytes", (amount * _BYTES.get(word, _BYTES.get(single, 1.0)),), frozenset(), _with(shown, [word])
            )
        if word in _EMPTY or len(units) == 3:
            break
        units.append(stem(word))
        taken.append(word)
    if in_words and amount == 1:
        return None
    return Value("count", (amount,), frozenset(units), _with(shown, taken[:1]))


def _with(shown: str, words: list[str]) -> str:
    return " ".join([shown, *words])


def _singular(word: str) -> str:
    return word.lower().removesuffix("s")


def _amount(match: re.Match[str]) -> float | None:
    scale = _SCALES.get((match["scale"] or "").lower(), 1.0)
    if match["digits"]:
        return float(match["digits"].replace(",", "")) * scale
    total, part = 0.0, 0.0
    for word in re.split(r"[\s-]+", match["words"].lower()):
        if word in _ONES or word in _TENS:
            part += _ONES.get(word, 0) + _TENS.get(word, 0)
        elif word in ("hundred", "dozen"):
            part = max(part, 1) * _SCALES[word]
        elif word in ("thousand", "million"):
            total, part = total + max(part, 1) * _SCALES[word], 0.0
    return (total + part) * scale


def _date(kind: str, shown: str) -> tuple[float, ...]:
    """Year, month and day; 0 for each that is not given. A quarter is a month beyond the twelfth."""
    numbers = [int(number) for number in re.findall(r"\d+", shown)]
    month = next((_MONTHS[w] for w in re.findall(r"[a-z]+", shown.lower()) if w in _MONTHS), 0)
    if kind == "iso":
        return float(numbers[0]), float(numbers[1]), float(numbers[2])
    if kind in ("dmy", "mdy"):
        return float(numbers[1]) if len(numbers) > 1 else 0.0, float(month), float(numbers[0])
    if kind == "quarter":
        year = numbers[1] if len(numbers) > 1 else 0
        return float(year + 2000 if 0 < year < 100 else year), 12.0 + numbers[0], 0.0
    return float(numbers[0] + 2000 if numbers[0] < 100 else numbers[0]), float(month), 0.0


def _clock(shown: str) -> float:
    """Minutes since midnight."""
    text = shown.lower()
    if text in ("noon", "midday", "midnight"):
        return 0.0 if text == "midnight" else 720.0
    word = text.split()[0]
    numbers = [_ONES[word]] if word in _ONES else [int(number) for number in re.findall(r"\d+", text)]
    hour, minute = numbers[0], numbers[1] if len(numbers) > 1 else 0
    if re.search(r"p\.?m|afternoon|evening", text) and hour < 12:
        hour += 12
    if re.search(r"a\.?m|morning", text) and hour == 12:
        hour = 0
    return hour * 60.0 + minute


def _often(shown: str) -> float:
    """Seconds from one time to the next."""
    if shown in _ADVERBS:
        return float(_ADVERBS[shown])
    unit = next(float(_UNITS[_singular(word)]) for word in reversed(shown.split()) if _singular(word) in _UNITS)
    counted = {"once": 1, "twice": 2, "other": 2} | _ONES | _TENS
    times = next(
        (float(counted.get(w, w if w.isdigit() else 0)) for w in shown.split() if w in counted or w.isdigit()), 1.0
    )
    return unit * times if shown.startswith("every") else unit / max(times, 1.0)


def without_numbers(title: str) -> str:
    """A title without its numbers and the names of months and days: what documents of a series have in common."""
    words = re.findall(r"[^\W\d_]+", title.lower())
    return " ".join(word for word in words if word not in _MONTHS and word not in _DAYS and word != "q")
