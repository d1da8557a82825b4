"""Words that tell what a sentence says by what they mean: what denies, links, moves, names a role, or says nothing."""

from __future__ import annotations

from regen.judges.differences import DOWN, NEGATION, UP
from regen.readings import stem

DENYING = NEGATION - set("without false untrue incorrect wrong mistaken contrary rejected denied denies deny".split())
ROUGHLY = frozenset("about approximately roughly around nearly almost circa over exceed exceeds than some".split())
EMPTY = frozenset(
    "a an and are as at be been being but by can could did do does for from had has have he her his how i if in "
    "into is it its may me might more most must my no not of on or our she should so some such than that the their "
    "them then there these they this those to us was we were what when where which who whom will with would you "
    "your also any all each every about after before between both during only other over own same through under "
    "until up very out per just now than currently always usually generally please here however still already today "
    "at least exactly".split()
)
PREPOSITIONS = frozenset("for of to in at from by with on against".split())
# Stems of verbs that hold an amount or a state to its subject: which of them is used says little.
LINKING = frozenset(
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
OPPOSITES = [
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
    ("safe harmless", "danger harm hazard toxic"),
]
# Opposites that contradict each other only where all the other words are the same.
SWAPS = [
    frozenset(pair.split())
    for pair in (
        "before after",
        "on off",
        "inside outside",
        "indoors outdoors",
        "upstairs downstairs",
        "manually automatically",
    )
]
PREFIXES = ("un", "non")
# Words that another prefix turns into their opposite: "in", "im", "il", "ir" and "dis" begin many words that are none.
DENIABLE = frozenset(
    """
    accurate active adequate appropriate capable compatible complete consistent correct dependent direct eligible
    flexible formal frequent secure significant sufficient tolerant valid visible possible mature mobile mortal patient
    perfect personal polite probable proper legal legible liberal licit logical literate regular relevant replaceable
    responsible reversible able abled advantage agree agrees agreed allow allows allowed approve approves approved
    connect connects connected continue continues continued honest like likes liked loyal obey obeys satisfied trust
    trusts
    """.split()
)
PREFIXES_OF_DENIABLE = ("in", "im", "il", "ir", "dis")
REJECTED = frozenset("~myth ~myths ~misconception ~misconceptions ~fallacy ~hoax ~debunked ~refuted longer".split())
MOVES = {
    way: frozenset(map(stem, words - set(
        "higher more above exceed exceeds up upward lower less fewer below down downward loss contract contracted "
        "cut cuts raise raises raised gain gains expanded".split()
    )))
    for way, words in (("up", UP), ("down", DOWN))
}  # fmt: skip
SIGNS = frozenset(word for pair in OPPOSITES for side in pair for word in side.split())
SAYS_LITTLE = (
    LINKING
    | MOVES["up"]
    | MOVES["down"]
    | frozenset(
        map(stem, "new old former previous earlier updated revised restated current present draft latest".split())
    )
)
ONCE = frozenset(
    map(
        stem,
        "founded established launched launch opened acquired built introduced retired discontinued signed incorporated "
        "born inaugurated completed merged deadline expires expire due ends begins starts start scheduled planned "
        "moves move released release effective closes switched moved began adopted joined started "
        "ended certified".split(),
    )
)
# Words for what somebody or something is, of which there is one: who leads, where it is, who made it.
ROLES = [
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
IS = frozenset("~by ~is ~are ~was ~be".split())
INTO = IS | frozenset("~in ~at ~with ~from".split())
POSTS = frozenset(
    map(
        stem,
        "head leader manager director chief chair president owner maintainer contact supplier vendor provider insurer "
        "auditor caterer contractor coordinator officer representative supervisor carrier manufacturer where".split(),
    )
) | {"~where", "~who"}
