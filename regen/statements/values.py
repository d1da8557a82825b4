"""Amounts, dates, times and lengths of time in a sentence, and which of them are the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf

from regen.readings import stem
from regen.statements.words import EMPTY

MONTHS = {
    name[:cut]: number
    for number, name in enumerate(
        "january february march april may june july august september october november december".split(), 1
    )
    for cut in (3, len(name))
} | {"sept": 9}
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_UNITS = {
    "second": 1, "sec": 1, "minute": 60, "min": 60, "hour": 3600, "hr": 3600, "day": 86_400, "week": 604_800,
    "fortnight": 1_209_600, "month": 2_629_746, "quarter": 7_889_238, "year": 31_556_952, "decade": 315_569_520,
}  # fmt: skip
_ADVERBS = {"hourly": 3600, "daily": 86_400, "nightly": 86_400, "weekly": 604_800, "fortnightly": 1_209_600,
            "monthly": 2_629_746, "quarterly": 7_889_238, "annually": 31_556_952, "yearly": 31_556_952}  # fmt: skip
BYTES = {"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kilobyte": 1e3, "megabyte": 1e6, "gigabyte": 1e9,
          "terabyte": 1e12}  # fmt: skip
_MEASURES = frozenset(
    map(
        stem,
        "celsius fahrenheit kelvin mile miles kilometer kilometers kilometre kilometres km meter meters metre metres "
        "feet foot yard yards inch inches cm mm kg kilogram kilograms gram grams lb lbs ounce ounces oz liter liters "
        "litre litres gallon gallons pint pints ml tonne tonnes mph kmh acre acres hectare hectares".split(),
    )
)
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
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
_TENS = {word: 10 * n for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}

ANY_MONTH = rf"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})\.?"
_ANY_UNIT = f"(?:{'|'.join(_UNITS)})s?"
_IN_WORDS = f"(?:{'|'.join([*_TENS, *sorted(_ONES, key=len, reverse=True), 'hundred', 'dozen'])})"
CAPITAL_DAYS = frozenset(day.capitalize() + end for day in DAYS for end in ("", "s"))
TOKEN = re.compile(
    rf"""
      (?P<link> [\w.+-]+@[\w-]+\.[\w.-]+ | https?://\S+ | www\.\S+ | `[^`\n]*` | (?<!\w)/[\w/.-]+ )
    | (?P<iso> \b(?:19|20)\d\d[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])\b )
    | (?P<dmy> \b\d{{1,2}}(?:st|nd|rd|th)?(?:\ of)?\ (?i:{ANY_MONTH})\b(?:,?\ (?:19|20)\d\d\b)? )
    | (?P<mdy> \b(?i:{ANY_MONTH})\ \d{{1,2}}(?:st|nd|rd|th)?\b(?!:)(?:,?\ (?:19|20)\d\d\b)? )
    | (?P<my> \b(?!may\b|mar\b|dec\b|sep\b|jan\b)(?i:{ANY_MONTH}),?\ (?:of\ )?(?:19|20)\d\d\b )
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
    | (?P<ordinal> (?:(?<=\bthe\ )|(?<=\bfinished\ )|(?<=\bcame\ )|(?<=\branked\ )|(?<=\branks\ ))
        (?:\d{{1,2}}(?:st|nd|rd|th)|(?i:{"|".join(_ORDINALS)}))\b )
    | (?P<number> (?P<sign>[$€£¥]\s?|\b(?:USD|EUR|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK)\ )?
        (?: (?<![\w.])(?P<digits>\d+(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)
          | \b(?P<words>(?i:{_IN_WORDS})(?:(?:[\ -]|\ and\ )(?i:{_IN_WORDS}|thousand|million))*)\b )
        (?:[\ -]?(?P<scale>(?i:hundred|thousand|million|billion|trillion|dozen|mn|bn)|[kKMB])\b(?!-))?
        (?P<after>\s?%|\ ?(?i:percent|per\ cent|percentage\ points?|dollars?|euros?|pounds?\ sterling|USD|EUR|GBP|CHF
          |JPY|CAD|AUD|SEK|NOK|DKK)\b)?
        (?P<th>(?:st|nd|rd|th)\b)? )
    | (?P<word> [^\W\d_]+(?:['\u2019][^\W\d_]+)* )
    | (?P<stop> [.;:,()!?] )
    """,
    re.VERBOSE,
)
_LARGE = 100_000.0
"""Amounts from here on may be told in fewer digits."""
_AT_LEAST = re.compile(
    r"\b(?:at least|more than|no(?:t)? less than|over|above|minimum of|exceed\w*)\s*$", re.IGNORECASE
)
_AT_MOST = re.compile(
    r"\b(?:up to|at most|no(?:t)? more than|less than|fewer than|under|below|maximum of)\s*$", re.IGNORECASE
)
_RANGE = re.compile(r"(\d[\d,.]*)\s*(?:to|-|\u2013|or)\s*$")


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


def value_of(kind: str, shown: str, match: re.Match[str], text: str) -> Value | None:
    """What a match of `TOKEN` comes to; None where it is no value, such as "21st".

    Args:
        kind: The group of `TOKEN` that matched.
        shown: What matched, without spaces around it.
        match: The match.
        text: The sentence, in which what a number counts stands after it.
    """
    if kind in ("iso", "dmy", "mdy", "my", "quarter", "fiscal", "year"):
        return Value("date", _date(kind, shown), frozenset(), shown)
    if kind == "clock":
        return Value("clock", (_clock(shown),), frozenset(), shown)
    if kind == "ordinal":
        number = _ORDINALS.index(shown.lower()) + 1 if shown.lower() in _ORDINALS else int(shown[:-2])
        thing = re.match(r"\s([^\W\d_]+)", text[match.end() :])
        of = {stem(thing[1].lower())} if thing and thing[1].lower() not in EMPTY else ()
        return Value("ordinal", (float(number),), frozenset(of), shown)
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
        if word in BYTES or single in BYTES:
            return Value(
                "bytes", (amount * BYTES.get(word, BYTES.get(single, 1.0)),), frozenset(), _with(shown, [word])
            )
        if word in EMPTY or len(units) == 3:
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
    month = next((MONTHS[w] for w in re.findall(r"[a-z]+", shown.lower()) if w in MONTHS), 0)
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


def left_open(value: Value, before: str) -> tuple[float, float] | None:
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


def comparable(one: Value, other: Value) -> bool:
    """Whether two amounts of one kind count the same thing, as far as is told."""
    if one.kind in ("percent", "bytes"):
        return True
    if one.kind == "money":
        return not (one.of and other.of) or one.of == other.of
    if one.kind == "span":
        return one.of == other.of  # working days and days are not
    measures = one.of & _MEASURES, other.of & _MEASURES
    if all(measures) and not measures[0] & measures[1]:
        return False
    return bool(one.of & other.of) or not one.of or not other.of


def same_value(one: Value, other: Value) -> bool:
    """Whether two values of one kind may be the same one, told in other words, with fewer digits or as a bound."""
    if one.kind == "date":
        return all(x == y for x, y in zip(one.amount, other.amount, strict=True) if x and y)
    if one.kind in ("weekday", "clock", "ordinal"):
        return one.amount == other.amount
    for bound, exact in ((one, other), (other, one)):
        if bound.within and not exact.within and bound.within[0] <= exact.amount[0] <= bound.within[1]:
            return True
    if one.within and other.within and (one.within[0] == -inf) != (other.within[0] == -inf):
        return max(one.within[0], other.within[0]) <= min(one.within[1], other.within[1])
    x, y = sorted((one.amount[0], other.amount[0]))
    if one.rough or other.rough:
        return y - x <= 0.1 * y
    # Months have no length of their own.
    tolerance = 0.035 if one.kind in ("span", "often", "bytes") and one.shown != other.shown else 0.0
    return y - x <= tolerance * y or _rounded(x, y)


def _rounded(x: float, y: float) -> bool:
    """Whether one large amount is the other with fewer digits, two at least: 4.2 million of 4.23 million."""
    if x < _LARGE:
        return False
    digits = min(len(f"{one:.0f}".rstrip("0")) for one in (x, y))
    return digits >= 2 and f"{x:.{digits}g}" == f"{y:.{digits}g}"


def without_numbers(title: str) -> str:
    """A title without its numbers and the names of months and days: what documents of a series have in common."""
    words = re.findall(r"[^\W\d_]+", title.lower())
    return " ".join(word for word in words if word not in MONTHS and word not in DAYS and word != "q")
