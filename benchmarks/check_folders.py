"""Folders of company documents with planted contradictions, for `benchmarks/check.py`: the same for the same seed.

A document is about one thing of its own (a product, a site, a project, a year's report), says a few facts about it, and
is filled up with sentences that many documents share. A planted contradiction and a near-duplicate that agrees are each
a second document on some thing, which says one of its facts again: otherwise, or the same in other words.

There are three parts that share no fact, no wording of one and no filler: `tune` and `second`, on which what regen does
was looked at and changed, and `report`, written afterwards, for figures.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

KINDS = ("number", "date", "denial", "direction", "name")


@dataclass(frozen=True)
class Fact:
    """One thing that can be said in several ways. `{x}` is what it is about, `{v}` its value.

    `same` are pairs of ways to write the same value; `other` are pairs of values that exclude each other. For denials
    and directions, `ways` say it and `against` say its opposite, without a value.
    """

    kind: str
    ways: tuple[str, ...]
    other: tuple[tuple[str, str], ...] = ()
    same: tuple[tuple[str, str], ...] = ()
    against: tuple[str, ...] = ()


TUNE = (
    Fact("number", ("{x} accepts at most {v} requests a minute from each key.",
                    "The rate limit of {x} is {v} requests a minute for each key.",
                    "With {x}, every key may send {v} requests per minute."),
         (("100", "500"), ("60", "240"), ("1,000", "1,500"), ("90", "120")),
         (("1,200", "1200"), ("twelve", "12"), ("2,000", "two thousand"))),
    Fact("number", ("An order for {x} can be sent back within {v}.",
                    "Customers have {v} to return {x} and get their money back.",
                    "Returns of {x} are taken for {v} after delivery."),
         (("30 days", "14 days"), ("two weeks", "six weeks"), ("60 days", "90 days")),
         (("30 days", "thirty days"), ("two weeks", "14 days"), ("1 year", "12 months"))),
    Fact("number", ("A seat of {x} costs {v} a month.", "The price of {x} is {v} per seat and month.",
                    "We charge {v} a month for each seat of {x}."),
         (("$12", "$15"), ("$29", "$35"), ("40 euros", "48 euros")),
         (("$12", "12 dollars"), ("$30", "$30.00"), ("40 euros", "\u20ac40"))),
    Fact("number", ("{x} keeps log files for {v}.", "Log files of {x} are deleted after {v}.",
                    "Logs written by {x} are retained for {v} and then removed."),
         (("90 days", "30 days"), ("18 months", "six months"), ("one year", "three years")),
         (("90 days", "ninety days"), ("24 months", "two years"), ("48 hours", "two days"))),
    Fact("number", ("{x} brought in {v} of revenue in 2024.", "Revenue from {x} for 2024 was {v}.",
                    "In 2024 we earned {v} with {x}."),
         (("$4.2 million", "$3.8 million"), ("$900,000", "$1.1 million"), ("$17 million", "$21 million")),
         (("$4.2 million", "$4,200,000"), ("$1.5 million", "1.5 million dollars"))),
    Fact("number", ("Backups of {x} run {v}.", "{x} is backed up {v}."),
         (("every six hours", "every 12 hours"), ("once a week", "every day."),),
         (("every six hours", "every 6 hours"), ("once a day", "daily"), ("twice a day", "every 12 hours"))),
    Fact("date", ("{x} went live on {v}.", "We launched {x} on {v}.", "The launch of {x} was on {v}."),
         (("3 March 2023", "13 March 2023"), ("June 1, 2022", "July 1, 2022"), ("2021-11-08", "November 18, 2021")),
         (("3 March 2023", "March 3, 2023"), ("2021-11-08", "8 November 2021"), ("June 1, 2022", "1 June 2022"))),
    Fact("date", ("The lease of {x} was signed in {v}.", "We signed the lease for {x} in {v}."),
         (("2016", "2018"), ("May 2019", "October 2019"), ("2020", "2021")),
         (("the year 2016", "2016"), ("May 2019", "May of 2019"))),
    Fact("date", ("The front desk at {x} opens at {v}.", "{x}: the front desk is open from {v} on weekdays."),
         (("8 a.m.", "9 a.m."), ("7:30 a.m.", "8:30 a.m."), ("noon", "10 a.m.")),
         (("8 a.m.", "8:00"), ("nine o'clock", "9 a.m."), ("noon", "12 p.m."))),
    Fact("denial", ("Visitors to {x} may take photos.", "Taking photos is allowed at {x}.",
                    "At {x}, visitors are allowed to take photos."),
         against=("Visitors to {x} may not take photos.", "Taking photos is prohibited at {x}.",
                  "At {x}, visitors are not allowed to take photos.")),
    Fact("denial", ("{x} encrypts its data on disk.", "Data of {x} is encrypted on disk."),
         against=("{x} does not encrypt its data on disk.", "Data of {x} is unencrypted on disk.")),
    Fact("denial", ("{x} is available to customers on every plan.", "Customers on all plans can use {x}."),
         against=("{x} is no longer available to customers on any plan.", "Customers cannot use {x} on any plan.")),
    Fact("direction", ("Energy use at {x} rose last year.", "Last year {x} saw an increase in energy use."),
         against=("Energy use at {x} fell last year.", "Last year {x} saw a decrease in energy use.")),
    Fact("direction", ("Support tickets about {x} increased in the spring.", "In the spring, tickets about {x} grew."),
         against=("Support tickets about {x} decreased in the spring.", "In the spring, tickets about {x} declined.")),
    Fact("name", ("{v} leads the team of {x}.", "The team of {x} is led by {v}.", "Head of the {x} team is {v}."),
         (("Marta Delgado", "Joel Whitaker"), ("Priya Raman", "Samuel Okoye"), ("Ana Sousa", "Tom Beck"))),
    Fact("name", ("{x} is hosted in {v}.", "The servers of {x} are located in {v}.", "{v} hosts the servers of {x}."),
         (("Frankfurt", "Dublin"), ("Oregon", "Virginia"), ("Singapore", "Tokyo"))),
)  # fmt: skip
SECOND = (
    Fact("number", ("A file that you upload to {x} may have up to {v}.", "{x} refuses files larger than {v}.",
                    "The biggest attachment {x} takes is {v}."),
         (("25 MB", "50 MB"), ("2 GB", "5 GB"), ("500 KB", "750 KB")),
         (("1 GB", "1,000 MB"), ("25 MB", "25 megabytes"))),
    Fact("number", ("You are signed out of {x} after {v} without activity.",
                    "Sessions in {x} expire when nobody has done anything for {v}.",
                    "{x} ends an idle session after {v}."),
         (("15 minutes", "30 minutes"), ("one hour", "four hours"), ("20 minutes", "45 minutes")),
         (("15 minutes", "a quarter of an hour"), ("60 minutes", "one hour"), ("thirty minutes", "30 minutes"))),
    Fact("number", ("The guarantee on the {x} lasts {v}.", "We guarantee the {x} for {v}.",
                    "For {v} from purchase, faults of the {x} are repaired under guarantee."),
         (("two years", "five years"), ("36 months", "18 months"), ("ten years", "three years")),
         (("two years", "24 months"), ("3 years", "36 months"), ("ten years", "10 years"))),
    Fact("number", ("{x} employs {v} people.", "There are {v} people working at {x}.", "The headcount of {x} is {v}."),
         (("36", "48"), ("120", "210"), ("8", "12"), ("1,050", "980")),
         (("36", "thirty-six"), ("1,050", "1050"), ("8", "eight"))),
    Fact("number", ("Partners get a discount of {v} on {x}.", "The partner discount for {x} is {v}.",
                    "{x} is sold to partners {v} below the list price."),
         (("15%", "20%"), ("7.5%", "5%"), ("30 percent", "25 percent")),
         (("15%", "15 percent"), ("30%", "thirty percent"))),
    Fact("number", ("Purchases for {x} above {v} need a second signature.",
                    "A second person has to sign purchases for {x} of more than {v}.",
                    "Any purchase for {x} that exceeds {v} must be countersigned."),
         (("$5,000", "$10,000"), ("$750", "$500"), ("\u00a32,000", "\u00a33,000")),
         (("$5,000", "$5000"), ("$10,000", "$10k"), ("\u00a32,000", "2,000 pounds sterling"))),
    Fact("number", ("The fire drill at {x} takes place {v}.", "{x} holds a fire drill {v}."),
         (("every three months", "once a year"), ("twice a year", "every month")),
         (("every three months", "every quarter"), ("twice a year", "every six months"), ("once a year", "annually"))),
    Fact("date", ("{x} was founded on {v}.", "The founding day of {x} is {v}.", "{x} has existed since {v}."),
         (("12 May 2009", "21 May 2009"), ("1998", "1996"), ("September 2014", "March 2014")),
         (("12 May 2009", "2009-05-12"), ("September 2014", "Sept. 2014"))),
    Fact("date", ("Proposals for {x} are due by {v}.", "The deadline for proposals to {x} is {v}.",
                  "Hand in proposals for {x} no later than {v}."),
         (("15 April", "30 April"), ("February 1", "March 1"), ("October 9, 2025", "October 19, 2025")),
         (("15 April", "April 15"), ("October 9, 2025", "9 Oct 2025"))),
    Fact("date", ("Lunch at {x} is served until {v}.", "The kitchen of {x} stops serving lunch at {v}.",
                  "At {x} you can have lunch until {v}."),
         (("2 p.m.", "1:30 p.m."), ("14:00", "15:00"), ("three in the afternoon", "2 p.m.")),
         (("2 p.m.", "14:00"), ("1:30 p.m.", "13:30"), ("three in the afternoon", "3 p.m."))),
    Fact("denial", ("Dogs are welcome in the offices of {x}.", "You may bring your dog to the offices of {x}.",
                    "The offices of {x} admit dogs."),
         against=("Dogs are banned from the offices of {x}.", "You must not bring your dog to the offices of {x}.",
                  "The offices of {x} do not admit dogs.")),
    Fact("denial", ("A second factor is mandatory for signing in to {x}.",
                    "Signing in to {x} requires a second factor."),
         against=("A second factor is optional for signing in to {x}.",
                  "Signing in to {x} does not require a second factor.")),
    Fact("denial", ("{x} works without a network connection.", "You can use {x} offline."),
         against=("{x} does not work without a network connection.", "You can't use {x} offline.")),
    Fact("denial", ("Interns at {x} are paid for overtime.", "Overtime of interns at {x} is paid."),
         against=("Interns at {x} are never paid for overtime.", "Overtime of interns at {x} is unpaid.")),
    Fact("direction", ("The number of accidents at {x} went down this year.",
                       "Accidents at {x} have declined this year.", "{x} reported a drop in accidents this year."),
         against=("The number of accidents at {x} went up this year.", "Accidents at {x} have climbed this year.",
                  "{x} reported a rise in accidents this year.")),
    Fact("direction", ("Water consumption of {x} shrank over the summer.",
                       "Over the summer {x} consumed a falling amount of water."),
         against=("Water consumption of {x} grew over the summer.",
                  "Over the summer {x} consumed a rising amount of water.")),
    Fact("name", ("The contract for cleaning {x} is with {v}.", "{v} cleans {x} under contract.",
                  "{x} is cleaned by the contractor {v}."),
         (("Brightmop", "Cleanleaf"), ("Solveig Services", "Harrow Brothers"), ("Dustaway", "Polished"))),
    Fact("name", ("Questions about {x} are answered by {v}.", "The contact for {x} is {v}.",
                  "Your contact person at {x} is {v}."),
         (("Liv Aasen", "Omar Haddad"), ("Chen Wei", "Rosa Feld"), ("Ivan Petrov", "Grace Kimani"))),
    Fact("name", ("The archive of {x} is kept in {v}.", "{v} is where the archive of {x} is stored."),
         (("Leeds", "Norwich"), ("Ghent", "Utrecht"), ("Lyon", "Turin"))),
)  # fmt: skip

REPORT = (
    Fact("number", ("Tickets for {x} are answered within {v}.", "You get a reply to a {x} ticket in {v} at most.",
                    "The promised response time for {x} tickets is {v}."),
         (("four hours", "eight hours"), ("one business day", "two business days"), ("30 minutes", "45 minutes")),
         (("4 hours", "four hours"), ("90 minutes", "1.5 hours"), ("one business day", "1 business day"))),
    Fact("number", ("{x} can seat {v} guests.", "There is room for {v} guests in {x}.",
                    "{x} has seats for {v} guests."),
         (("80", "110"), ("1,400", "1,250"), ("24", "32")),
         (("1,400", "1400"), ("twenty-four", "24"))),
    Fact("number", ("Membership in {x} costs {v} a year.", "The yearly fee for {x} is {v}.",
                    "Members of {x} pay {v} per year."),
         (("$90", "$120"), ("\u20ac45", "\u20ac54"), ("75 pounds sterling", "95 pounds sterling")),
         (("$90", "90 dollars"), ("\u20ac45", "45 euros"))),
    Fact("number", ("Staff of {x} may carry over {v} of vacation.", "Up to {v} of vacation can be carried over at {x}.",
                    "At {x}, unused vacation of up to {v} moves to the next year."),
         (("five days", "ten days"), ("two weeks", "one week"), ("8 days", "12 days")),
         (("5 days", "five days"), ("two weeks", "14 days"))),
    Fact("number", ("The {x} project spent {v} in its first year.", "First-year spending of the {x} project was {v}.",
                    "In its first year the {x} project cost {v}."),
         (("$2.4 million", "$2.9 million"), ("$640,000", "$460,000"), ("\u00a31.2 million", "\u00a31.7 million")),
         (("$2.4 million", "$2,400,000"), ("$640,000", "$640k"))),
    Fact("number", ("The air filters of {x} are replaced {v}.", "{x} gets new air filters {v}."),
         (("every two months", "every six months"), ("once a year", "every three months"), ("monthly", "twice a year")),
         (("every two months", "every 2 months"), ("once a year", "every 12 months"))),
    Fact("number", ("{x} runs at {v} of its capacity.", "The utilization of {x} is {v} of capacity."),
         (("65%", "80%"), ("72 percent", "58 percent"), ("40%", "55%")),
         (("65%", "65 percent"), ("40%", "forty percent"))),
    Fact("date", ("{x} opened its doors on {v}.", "The opening day of {x} was {v}.", "We opened {x} on {v}."),
         (("9 September 2021", "19 September 2021"), ("2018-04-02", "May 2, 2018"), ("June 30, 2020", "July 30, 2020")),
         (("9 September 2021", "September 9th, 2021"), ("2018-04-02", "2 April 2018"))),
    Fact("date", ("The certificate of {x} expires on {v}.", "{x} is certified until {v}.",
                  "The expiry date of the certificate of {x} is {v}."),
         (("31 January 2027", "31 March 2027"), ("December 1, 2026", "December 15, 2026")),
         (("31 January 2027", "2027-01-31"), ("December 1, 2026", "1 Dec 2026"))),
    Fact("date", ("Deliveries to {x} are taken in from {v}.", "The loading dock of {x} starts work at {v}.",
                  "Trucks can unload at {x} from {v} on."),
         (("6 a.m.", "7 a.m."), ("5:30", "6:30"), ("6:45 a.m.", "6:15 a.m.")),
         (("6 a.m.", "06:00"), ("5:30", "5:30 a.m."))),
    Fact("denial", ("Smoking is permitted on the terrace of {x}.", "You may smoke on the terrace of {x}."),
         against=("Smoking is forbidden on the terrace of {x}.", "You may not smoke on the terrace of {x}.")),
    Fact("denial", ("{x} shares data with partners.", "Data from {x} is shared with partners."),
         against=("{x} never shares data with partners.", "Data from {x} is not shared with partners.")),
    Fact("denial", ("Booking a desk is compulsory at {x}.", "You must book a desk at {x}."),
         against=("Booking a desk is voluntary at {x}.", "You don't need to book a desk at {x}.")),
    Fact("denial", ("Contractors have access to {x}.", "{x} is open to contractors."),
         against=("Contractors have no access to {x}.", "{x} is closed to contractors.")),
    Fact("direction", ("Turnover of staff at {x} has decreased since the spring.",
                       "Since the spring, staff turnover at {x} has dropped."),
         against=("Turnover of staff at {x} has increased since the spring.",
                  "Since the spring, staff turnover at {x} has risen.")),
    Fact("direction", ("The waiting time at {x} grew in the last quarter.",
                       "Last quarter brought growing waiting times at {x}."),
         against=("The waiting time at {x} shrank in the last quarter.",
                  "Last quarter brought falling waiting times at {x}.")),
    Fact("name", ("{v} owns the roadmap of {x}.", "The roadmap of {x} is owned by {v}.",
                  "Owner of the {x} roadmap is {v}."),
         (("Nadia Rahimi", "Peter Lund"), ("Yuki Tanaka", "Carla Mendes"), ("Hugo Brandt", "Ines Moreau"))),
    Fact("name", ("Spare parts for {x} are supplied by {v}.", "{v} supplies the spare parts for {x}.",
                  "The supplier of spare parts for {x} is {v}."),
         (("Partsmith", "Gearwell"), ("Norden Tools", "Apex Supply"), ("Kolb", "Tessier"))),
    Fact("name", ("The head office of {x} is in {v}.", "{x} has its headquarters in {v}."),
         (("Porto", "Lisbon"), ("Graz", "Vienna"), ("Aarhus", "Odense"))),
)  # fmt: skip
PARTS = {"tune": TUNE, "second": SECOND, "report": REPORT}

FILLER = {
    "tune": (
        "Please read this page before you write to us.", "The page is reviewed {often} by its owner.",
        "Send remarks to {mail}.", "For urgent matters call {phone}.", "The current version is {version}.",
        "Everyone is welcome to propose changes.", "Screenshots are made with the {color} theme.",
        "The project room is room {room}.", "The annual report for {year} showed a profit of ${money} million.",
        "In {year}, {count} customers took part in the survey about {x}.",
        "A summary is posted in the channel {channel}.", "Release {version} of {x} fixes {count} errors.",
        "Hourly staff at {x} get {count} days of leave.", "The standard tier of {x} includes {count} projects.",
        "The {color} tier of {x} includes {count} projects.", "Workshop number {room} was held in {year}.",
    ),
    "second": (
        "This document is kept short on purpose.", "Its owner looks through it {often}.",
        "If something is wrong, tell {mail}.", "Out of hours, ring {phone}.", "Tested with build {version}.",
        "Words in italics are explained in the glossary.", "Pictures show the {color} edition.",
        "Parcels go to building {room}.", "In fiscal {year} the unit made ${money} million.",
        "The {year} inspection of {x} found {count} small faults.", "Minutes are shared in {channel}.",
        "Build {version} of {x} has {count} known problems.", "Part-time employees of {x} have {count} lockers.",
        "Full-time employees of {x} have {room} lockers.", "The {color} line of {x} carries {room} items.",
        "Ticket {phone} was closed in {year}.",
    ),
    "report": (
        "You need no earlier knowledge to follow this.", "We go over these notes {often}.",
        "Found a mistake? Write to {mail}.", "The duty phone is {phone}.", "Written for revision {version}.",
        "Terms are used as in the style guide.", "Labels are printed on {color} paper.",
        "Keys are handed out in room {room}.", "Group profit for {year} was ${money} million.",
        "{x} hosted {count} interns in {year}.", "Talk to us in {channel}.",
        "Revision {version} of {x} closed {count} requests.", "Night shifts at {x} need {count} people.",
        "Day shifts at {x} need {room} people.", "The {color} package of {x} contains {room} parts.",
        "Invoice {phone} was settled in {year}.",
    ),
}  # fmt: skip
_FIRST = (
    "Alder Amber Arden Basalt Birch Briar Cedar Cinder Cobalt Comet Coral Dahlia Delta Drift Ember Falcon Fern Flint "
    "Garnet Glacier Harbor Hazel Heron Indigo Iris Ivory Jasper Juniper Kestrel Lagoon Lark Linden Lumen Maple Marble "
    "Meadow Mica Nimbus Onyx Opal Orchid Osprey Pebble Pine Quartz Raven Ridge Rowan Saffron Sable Sierra Slate "
    "Sparrow Spruce Summit Tansy Teal Thistle Topaz Tundra Umber Velvet Violet Walnut Willow Yarrow Zephyr Zinnia"
).split()
_SECOND = (
    "Bridge Canvas Capital Cloud Compass Depot Desk Dock Exchange Factory Field Forge Gate Grid House Hub Journal "
    "Junction Kitchen Lab Ledger Library Line Link Lodge Market Mill Monitor Office Park Plant Point Portal Press "
    "Quarter Relay School Shop Signal Square Stack Station Store Studio Terminal Tower Vault Warehouse Works Yard"
).split()
_TITLES = {
    "tune": ("{x}: handbook", "All about {x}", "{x}, in short", "Notes on {x}", "Working with {x}"),
    "report": ("{x} at a glance", "The essentials of {x}", "Your questions about {x}", "{x}: reference"),
    "second": ("What to know about {x}", "{x} guide", "Introducing {x}", "{x} for newcomers", "Facts and figures: {x}"),
}


@dataclass(frozen=True)
class Planted:
    """Two files of a folder, what they contradict each other in, or "" where they agree, and where they say it."""

    files: frozenset[str]
    kind: str
    sentences: tuple[str, str]


def write(folder: Path, part: str, documents: int, contradictions: int, agreeing: int, seed: int) -> list[Planted]:
    """Writes a folder of so many documents, and says which of them belong together."""
    draw = random.Random(f"{part} {seed} {documents}")
    facts = PARTS[part]
    things = [f"{a} {b}" for a in _FIRST for b in _SECOND]
    draw.shuffle(things)
    written: list[tuple[str, str]] = []
    planted: list[Planted] = []
    by_kind = {kind: [fact for fact in facts if fact.kind == kind] for kind in KINDS}
    same = [fact for fact in facts if fact.same or fact.against]

    def add(thing: str, *sentences: str) -> str:
        name = f"{len(written):04}-{thing.lower().replace(' ', '-')}.md"
        written.append((name, _document(draw, part, thing, list(sentences))))
        return name

    for number in range(contradictions + agreeing):
        thing = things.pop()
        kind = KINDS[number % len(KINDS)] if number < contradictions else ""
        fact = draw.choice(by_kind[kind] if kind else same)
        one, other = draw.sample(range(len(fact.ways)), 2)
        if fact.against:
            ways = fact.against if kind else fact.ways
            first, second = fact.ways[one], ways[other % len(ways)]
        else:
            values = draw.choice(fact.other if kind else fact.same)
            first, second = (fact.ways[way].replace("{v}", v) for way, v in zip((one, other), values, strict=True))
        rest = [f for f in facts if f is not fact]
        a = add(thing, first, *_facts(draw, draw.sample(rest, 3)))
        said = (first.replace("{x}", thing), second.replace("{x}", thing))
        planted.append(Planted(frozenset({a, add(thing, second)}), kind, said))
    while len(written) < documents:
        add(things.pop(), *_facts(draw, draw.sample(facts, 4)))
    folder.mkdir(parents=True)
    for name, text in written:
        (folder / name).write_text(text, encoding="utf-8")
    return planted


def _facts(draw: random.Random, facts: list[Fact]) -> list[str]:
    said = []
    for fact in facts:
        way = draw.choice(fact.ways + fact.against)
        value = draw.choice(draw.choice(fact.other + fact.same)) if fact.other else ""
        said.append(way.replace("{v}", value))
    return said


def _document(draw: random.Random, part: str, thing: str, sentences: list[str]) -> str:
    sentences = sentences + draw.sample(FILLER[part], 9)
    draw.shuffle(sentences)
    # Two documents on one thing say the same of it, but for what is planted.
    own = random.Random(f"{part} {thing}")
    year, money, room, count, version = (
        own.randrange(*span) for span in ((2017, 2026), (1, 90), (100, 900), (10, 90), (1, 9))
    )
    phone = f"+44 20 7946 {own.randrange(1000, 9999)}"
    often = own.choice(("once a year", "every six months", "monthly"))
    color = own.choice(("blue", "green", "silver", "dark"))
    filled = [
        sentence.replace("{x}", thing)
        .replace("{often}", often)
        .replace("{mail}", f"{thing.split()[0].lower()}@company.example")
        .replace("{phone}", phone)
        .replace("{version}", f"{version}.{room % 20}.{count % 9}")
        .replace("{color}", color)
        .replace("{room}", str(room))
        .replace("{year}", str(year))
        .replace("{money}", f"{money / 10}")
        .replace("{count}", str(count))
        .replace("{channel}", f"#{thing.split()[-1].lower()}")
        for sentence in sentences
    ]
    filled = [(sentence[0].upper() + sentence[1:]).replace("..", ".") for sentence in filled]
    cuts = sorted(draw.sample(range(1, len(filled)), 3))
    parts = [filled[start:end] for start, end in zip([0, *cuts], [*cuts, len(filled)], strict=True)]
    day = f"20{draw.randrange(19, 26)}-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}"
    title = draw.choice(_TITLES[part]).replace("{x}", thing)
    dated = f"date: {day}\n" if draw.random() < 0.8 else ""
    return f'---\ntitle: "{title}"\n{dated}---\n\n# {title}\n\n' + "\n\n".join(" ".join(part) for part in parts) + "\n"
