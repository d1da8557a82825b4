"""Plain statements of a sentence or two about made-up things, and what one says of another.

Passages of the public sets are about a hundred words long, and what is changed in them is a name or a number. Short
texts, and what people write of opening hours, prices, rules and effects, are made here from rows of wordings.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from training.changes import rejected

# The stances are given by name here too, as `pairs` has them, since that module imports this one.
SUPPORTS, CONTRADICTS, IRRELEVANT = "supports", "contradicts", "irrelevant"

_FIRST = """Alder Brisk Calder Dunmore Elstow Farrow Garnet Harbin Ivory Juniper Kestrel Linden Marlow Norwell Osprey
Pemberton Quarry Redmere Sable Thornby Umber Velden Wexcombe Yarrow Zephyr Ashdown Birchley Copperfield Deepwell
Eastmoor""".split()
_NAMES = """Anna Keller/Tom Barlow/Priya Nair/Luis Ortega/Mei Tanaka/Omar Haddad/Ruth Lindqvist/Ivan Petrov/
Grace Mwangi/Paul Fischer/Carla Rossi/Daniel Okafor/Sofia Marin/Hugh Bennett/Leila Karimi/Jonas Weber""".replace(
    "\n", ""
).split("/")
_CITIES = """Lisbon/Oslo/Denver/Nairobi/Kyoto/Leeds/Porto/Graz/Tampere/Bristol/Austin/Perth/Lyon/Gdansk/Bergen/
Quebec""".replace("\n", "").split("/")
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTHS = "January February March April May June July August September October November December".split()
_COLORS = "blue green red grey black white yellow orange".split()
_MATERIALS = "steel aluminium oak glass brick concrete copper granite".split()
_LANGUAGES = "Spanish/German/Portuguese/Dutch/Polish/Korean/Arabic/Turkish".split("/")
_WORDS = "two three four five six seven eight nine ten eleven twelve".split()

Draw = random.Random


def _number(low: int, high: int, step: int = 1) -> Callable[[Draw], str]:
    return lambda draw: f"{draw.randrange(low, high + 1, step):,}"


def _one(*values: str) -> Callable[[Draw], str]:
    return lambda draw: draw.choice(values)


def _day(draw: Draw) -> str:
    return f"{draw.choice(_MONTHS)} {draw.randrange(1, 29)}"


def _year(draw: Draw) -> str:
    return str(draw.randrange(1890, 2026))


def _hour(draw: Draw) -> str:
    return draw.choice([f"{draw.randrange(6, 12)} a.m.", f"{draw.randrange(1, 11)} p.m."])


def _money(draw: Draw) -> str:
    amount = draw.choice([draw.randrange(5, 95), draw.randrange(100, 990, 10), draw.randrange(1_000, 90_000, 500)])
    return draw.choice([f"${amount:,}", f"{amount:,} euros", f"${amount / 10:.1f} million"])


@dataclass(frozen=True)
class Fact:
    """Wordings of one fact; "{s}" is who or what it is about and "{v}" its value."""

    subjects: tuple[str, ...]
    wordings: tuple[str, ...]
    value: Callable[[Draw], str]


@dataclass(frozen=True)
class Sides:
    """Wordings of two statements that cannot both be true."""

    subjects: tuple[str, ...]
    one: tuple[str, ...]
    other: tuple[str, ...]


_FIRMS = ("{} Ltd", "{} Energy", "{} Foods", "{} Systems", "the {} group")
_PLACES = ("the {} museum", "the {} library", "the {} shop", "the {} clinic", "the {} pool", "Café {}")
_THINGS = ("the {} camera", "the {} heater", "the {} bicycle", "the {} tablet", "the {} drill")
_SERVICES = ("{} Cloud", "the {} app", "the {} API", "{} Mail", "{} Backup")
_SITES = ("the {} bridge", "the {} tower", "the {} dam", "the {} stadium", "the {} tunnel")
_BOOKS = ("the novel {}", "the film {}", "the album {}")
_RULES = ("staff at {}", "members of the {} club", "students at {} College", "guests of the {} hotel")
_DIET = ("green tea", "coffee", "garlic", "zinc", "olive oil", "vitamin D", "yoga", "daily walking", "beetroot juice")

FACTS: tuple[Fact, ...] = (
    Fact(
        _FIRMS, ("{s} was founded in {v}.", "{s} has existed since {v}.", "{v} is the year {s} was set up in."), _year
    ),
    Fact(
        _FIRMS,
        ("{s} employs {v} people.", "{v} people work for {s}.", "The headcount at {s} is {v}."),
        _number(20, 9000, 10),
    ),
    Fact(
        _FIRMS,
        ("{v} is the chief executive of {s}.", "{s} is led by {v}.", "The head of {s} is {v}."),
        _one(*_NAMES),
    ),
    Fact(
        _FIRMS,
        ("{s} has its head office in {v}.", "{s} is based in {v}.", "{v} is home to {s}'s headquarters."),
        _one(*_CITIES),
    ),
    Fact(
        _FIRMS,
        (
            "{s} made {v} in profit last year.",
            "Last year's profit at {s} came to {v}.",
            "{s} reported a profit of {v}.",
        ),
        _money,
    ),
    Fact(
        _PLACES,
        ("{s} closes at {v}.", "The doors of {s} shut at {v}.", "{s} is open until {v}."),
        _hour,
    ),
    Fact(
        _PLACES,
        ("Entry to {s} costs {v}.", "A ticket for {s} is {v}.", "Visitors pay {v} to get into {s}."),
        _money,
    ),
    Fact(
        _PLACES,
        ("{s} is closed on {v}s.", "On {v}s {s} stays shut.", "{v} is the day when {s} does not open."),
        _one(*_DAYS),
    ),
    Fact(
        _THINGS,
        ("{s} weighs {v} kg.", "The weight of {s} is {v} kilograms.", "At {v} kg, {s} is easy to carry."),
        _number(2, 40),
    ),
    Fact(
        _THINGS,
        (
            "{s} comes with a warranty of {v} years.",
            "{s} is guaranteed for {v} years.",
            "Its maker covers {s} for {v} years.",
        ),
        _one(*_WORDS),
    ),
    Fact(_THINGS, ("{s} is sold in {v} only.", "The only color of {s} is {v}.", "{s} is {v}."), _one(*_COLORS)),
    Fact(
        _THINGS,
        (
            "{s} runs for {v} hours on one charge.",
            "The battery of {s} lasts {v} hours.",
            "After {v} hours {s} must be charged.",
        ),
        _number(3, 48),
    ),
    Fact(
        _SERVICES,
        (
            "{s} allows {v} requests a minute.",
            "The limit of {s} is {v} requests per minute.",
            "Above {v} calls a minute {s} refuses.",
        ),
        _number(10, 5000, 10),
    ),
    Fact(
        _SERVICES,
        (
            "{s} keeps deleted files for {v} days.",
            "{s} removes what was deleted after {v} days.",
            "Deleted files stay in {s} for {v} days.",
        ),
        _number(7, 120),
    ),
    Fact(
        _SERVICES,
        ("{s} costs {v} a month.", "A month of {s} is {v}.", "The monthly price of {s} is {v}."),
        _money,
    ),
    Fact(
        _SERVICES,
        ("{s} will be switched off on {v}.", "The last day of {s} is {v}.", "{v} is when {s} ends."),
        _day,
    ),
    Fact(
        _SITES,
        ("{s} is {v} metres long.", "The length of {s} is {v} m.", "{s} measures {v} metres from end to end."),
        _number(40, 4000, 5),
    ),
    Fact(_SITES, ("{s} was finished in {v}.", "Work on {s} ended in {v}.", "{s} opened in {v}."), _year),
    Fact(
        _SITES,
        ("{s} is made of {v}.", "{v} is what {s} was built from.", "The builders used {v} for {s}."),
        _one(*_MATERIALS),
    ),
    Fact(
        _SITES,
        ("{s} was designed by {v}.", "{v} drew the plans of {s}.", "The architect of {s} was {v}."),
        _one(*_NAMES),
    ),
    Fact(_BOOKS, ("{s} came out in {v}.", "{s} was first released in {v}.", "{v} saw the release of {s}."), _year),
    Fact(_BOOKS, ("{s} was made by {v}.", "{v} is the creator of {s}.", "We owe {s} to {v}."), _one(*_NAMES)),
    Fact(
        _BOOKS,
        (
            "{s} was first translated into {v}.",
            "The first translation of {s} was in {v}.",
            "{v} readers got {s} first.",
        ),
        _one(*_LANGUAGES),
    ),
    Fact(
        _RULES,
        ("{s} get {v} days off a year.", "Each year {s} may take {v} days of leave.", "The leave of {s} is {v} days."),
        _number(14, 40),
    ),
    Fact(
        _RULES,
        (
            "{s} must report costs within {v} days.",
            "{s} have {v} days to hand in their receipts.",
            "The time limit for expenses of {s} is {v} days.",
        ),
        _number(5, 90),
    ),
    Fact(
        _RULES,
        ("{s} may bring {v} visitors.", "Up to {v} visitors are welcome with {s}.", "{s} can invite {v} people."),
        _one(*_WORDS),
    ),
)

SIDES: tuple[Sides, ...] = (
    Sides(
        _PLACES,
        (
            "{s} is open on Sundays.",
            "You can visit {s} on a Sunday.",
            "{s} opens every day of the week.",
            "On Sundays, too, {s} receives visitors.",
        ),
        (
            "{s} is closed on Sundays.",
            "{s} does not open on Sundays.",
            "On Sundays nobody can visit {s}.",
            "{s} opens from Monday to Saturday only.",
        ),
    ),
    Sides(
        _PLACES,
        ("Dogs are welcome in {s}.", "You may take your dog into {s}.", "{s} lets dogs in."),
        ("Dogs are not allowed in {s}.", "Dogs must stay outside {s}.", "{s} has a ban on dogs."),
    ),
    Sides(
        _PLACES,
        ("Entry to {s} is free.", "{s} charges nothing for entry.", "You need no ticket for {s}."),
        ("Visitors of {s} pay for entry.", "Entry to {s} is not free.", "You have to buy a ticket for {s}."),
    ),
    Sides(
        _PLACES,
        ("{s} takes cards only.", "{s} no longer accepts cash.", "You cannot pay with cash in {s}."),
        ("{s} takes cash.", "You can pay with notes and coins in {s}.", "Cash is accepted in {s}."),
    ),
    Sides(
        _SERVICES,
        ("{s} works without an internet connection.", "{s} can be used offline.", "{s} does not need to be online."),
        ("{s} needs an internet connection.", "{s} cannot be used offline.", "Without a connection {s} stops working."),
    ),
    Sides(
        _SERVICES,
        ("{s} encrypts all files.", "Every file in {s} is encrypted.", "{s} stores nothing in plain text."),
        ("{s} does not encrypt files.", "Files in {s} are stored unencrypted.", "{s} keeps files in plain text."),
    ),
    Sides(
        _SERVICES,
        ("{s} still supports the old format.", "Old files open in {s}.", "The old format works in {s}."),
        (
            "{s} has dropped the old format.",
            "{s} no longer opens old files.",
            "Support for the old format has ended in {s}.",
        ),
    ),
    Sides(
        _SERVICES,
        (
            "Requests to {s} must be signed.",
            "{s} refuses requests that are not signed.",
            "A signature is required by {s}.",
        ),
        ("Requests to {s} need no signature.", "{s} accepts unsigned requests.", "Signing is optional with {s}."),
    ),
    Sides(
        _RULES,
        ("{s} may work from home.", "Working from home is allowed for {s}.", "{s} can choose to stay at home."),
        ("{s} may not work from home.", "{s} have to come in every day.", "Home working is forbidden for {s}."),
    ),
    Sides(
        _RULES,
        ("{s} must wear a badge.", "A badge is compulsory for {s}.", "Without a badge {s} are turned away."),
        ("{s} need no badge.", "Badges are optional for {s}.", "{s} do not have to wear a badge."),
    ),
    Sides(
        _RULES,
        (
            "{s} can use their own laptops.",
            "Private laptops are permitted for {s}.",
            "{s} are free to bring their own computer.",
        ),
        (
            "{s} must not use their own laptops.",
            "Private laptops are banned for {s}.",
            "{s} work on machines they are given, never on their own.",
        ),
    ),
    Sides(
        _FIRMS,
        (
            "Sales at {s} rose last year.",
            "{s} sold more last year than before.",
            "Last year brought {s} growing sales.",
        ),
        ("Sales at {s} fell last year.", "{s} sold less last year than before.", "Last year sales shrank at {s}."),
    ),
    Sides(
        _FIRMS,
        ("{s} made a profit.", "{s} is profitable.", "{s} earned more than it spent."),
        ("{s} made a loss.", "{s} is losing money.", "{s} spent more than it earned."),
    ),
    Sides(
        _FIRMS,
        ("{s} is owned by the state.", "The state holds all shares of {s}.", "{s} is public property."),
        ("{s} is privately owned.", "The state has no share in {s}.", "{s} belongs to a family."),
    ),
    Sides(
        _THINGS,
        ("{s} is waterproof.", "{s} can be used under water.", "Water does {s} no harm."),
        ("{s} is not waterproof.", "{s} must be kept dry.", "Water destroys {s}."),
    ),
    Sides(
        _THINGS,
        ("{s} is heavier than the model before.", "{s} weighs more than its predecessor.", "{s} has gained weight."),
        ("{s} is lighter than the model before.", "{s} weighs less than its predecessor.", "{s} has lost weight."),
    ),
    Sides(
        _THINGS,
        ("{s} is safe for children.", "Children can use {s} without risk.", "{s} poses no danger to children."),
        ("{s} is dangerous for children.", "Children must not use {s}.", "{s} can hurt children."),
    ),
    Sides(
        _SITES,
        ("{s} is still standing.", "{s} exists to this day.", "People still use {s}."),
        ("{s} was torn down.", "{s} no longer exists.", "Nothing is left of {s}."),
    ),
    Sides(
        _DIET,
        ("{s} lowers blood pressure.", "Blood pressure falls with {s}.", "{s} brings high blood pressure down."),
        ("{s} raises blood pressure.", "{s} does not lower blood pressure.", "With {s}, blood pressure goes up."),
    ),
    Sides(
        _DIET,
        ("{s} helps against colds.", "{s} shortens a cold.", "Trials found that {s} works against colds."),
        (
            "{s} does nothing against colds.",
            "Trials found no effect of {s} on colds.",
            "{s} is useless against a cold.",
        ),
    ),
    Sides(
        _DIET,
        ("{s} improves sleep.", "People sleep better with {s}.", "{s} is good for sleep."),
        ("{s} disturbs sleep.", "{s} makes sleep worse.", "People sleep badly with {s}."),
    ),
    Sides(
        _DIET,
        ("{s} causes headaches.", "{s} is a cause of headaches.", "Headaches can come from {s}."),
        (
            "{s} does not cause headaches.",
            "There is no link between {s} and headaches.",
            "Headaches do not come from {s}.",
        ),
    ),
)

_LEADS = (
    "",
    "",
    "",
    "",
    "According to the notice, ",
    "As of this year, ",
    "Please note: ",
    "In short, ",
    "By the way, ",
)


def plain(draw: Draw, count: int) -> Iterator[tuple[str, str, str]]:
    """Claims, short texts, and what each text says of its claim.

    A third each supports, contradicts and says nothing: there it is another fact of the same thing, or the same fact
    of another thing. Every statement is as often a claim that is supported as one that is contradicted.

    Args:
        draw: Where chance comes from.
        count: How many.
    """
    for _ in range(count):
        kind = draw.choice(FACTS) if draw.random() < 0.5 else draw.choice(SIDES)
        form = draw.choice(kind.subjects)
        subject, stranger = (form.format(name) for name in draw.sample(_FIRST, 2)) if "{}" in form else (form, None)
        if stranger is None:
            stranger = draw.choice([name for name in kind.subjects if name != form])
        stance = draw.choice((SUPPORTS, CONTRADICTS, IRRELEVANT))
        said, other, third = _statements(kind, draw)
        claim = _sentence(said, subject)
        beside = [_sentence(_statements(k, draw)[0], subject) for k in _others(kind, draw)]
        if stance == SUPPORTS:
            says = [_frame(_sentence(third, subject), draw)]
            if draw.random() < 0.15:
                says = [rejected(_sentence(other, subject), draw), *says]
        elif stance == CONTRADICTS:
            says = [_frame(_sentence(other, subject), draw)]
            if draw.random() < 0.25:
                says = [rejected(claim, draw), *says[: draw.randrange(2)]]
        else:
            says = [_frame(_sentence(draw.choice((other, third)), stranger), draw)] if draw.random() < 0.5 else beside
            beside = beside[1:] if says is beside else beside
            says = says[:1]
        texts = [*says, *beside[: draw.choice((0, 0, 0, 1, 1, 2))]]
        draw.shuffle(texts)
        yield claim, " ".join(texts), stance


def _statements(kind: Fact | Sides, draw: Draw) -> tuple[str, str, str]:
    """A statement, one that cannot be true beside it, and the first in (mostly) other words; all with "{s}" open."""
    if isinstance(kind, Sides):
        one, other = draw.sample((kind.one, kind.other), 2)
        said = draw.choice(one)
        return said, draw.choice(other), draw.choice([form for form in one if form != said] or one)
    value = kind.value(draw)
    different = value
    while different == value:
        different = kind.value(draw)
    said, again = draw.sample(kind.wordings, 2)
    if draw.random() < 0.2:
        again = said
    against = draw.choice(kind.wordings)
    return said.replace("{v}", value), against.replace("{v}", different), again.replace("{v}", value)


def _others(kind: Fact | Sides, draw: Draw) -> Sequence[Fact | Sides]:
    """Other facts that things of the same kind have, in any order."""
    found = [other for other in (*FACTS, *SIDES) if other.subjects == kind.subjects and _apart(other, kind)]
    return draw.sample(found, min(2, len(found)))


def _apart(one: Fact | Sides, other: Fact | Sides) -> bool:
    """Whether neither tells anything of the other: opening days and prices are in rows of both sorts."""
    words = {id(kind): " ".join(_wordings(kind)).lower() for kind in (one, other)}
    shared = ("sunday", "entry", "founded", "profit", "blood", "laptop", "closed on", "guarant")
    return one is not other and not any(word in words[id(one)] and word in words[id(other)] for word in shared)


def _wordings(kind: Fact | Sides) -> tuple[str, ...]:
    return kind.wordings if isinstance(kind, Fact) else (*kind.one, *kind.other)


def _sentence(form: str, subject: str) -> str:
    text = form.replace("{s}", subject).replace("..", ".")
    return text[0].upper() + text[1:]


def _frame(sentence: str, draw: Draw) -> str:
    lead = draw.choice(_LEADS)
    if lead and sentence.split()[0] in ("The", "Staff", "Members", "Students", "Guests", "Entry", "Dogs", "Visitors"):
        sentence = sentence[0].lower() + sentence[1:]
    return lead + sentence
