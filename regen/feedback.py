"""Feedback: what the evidence shows about a first answer, in words that help to give a better second one.

Its wording is measured, not decoration: a bare list of sides made answers worse; counts, dates and a rule for
deciding made them better.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime

from rapidfuzz import fuzz

from regen.conflict import weigh
from regen.fence import harmless, one_line
from regen.keeping import Correction
from regen.kinds import EXPECTED, MEANING
from regen.quotes import sentences
from regen.types import Answer, Claim, ConflictReport, Document, DocumentAnswer, Evidence, Kind, Stance

_CONFLICT = (
    "Checking it against the documents showed a conflict. A newer document that corrects older ones, or says what has "
    "changed since, is right; one that calls a view a myth is right against those that repeat it; otherwise the side "
    "with more documents is more likely right."
)
_CONFLICT_OF_WEIGHTS = (
    "Checking it against the documents showed a conflict. A newer document that corrects older ones, or says what has "
    "changed since, is right where it weighs no less than they do; one that calls a view a myth is right against those "
    "that repeat it; otherwise the side that weighs more is more likely right."
)
_CONFLICT_OF_A_REPORT = "Checking it against the documents showed that they contradict some of its claims."
_REWRITE = (
    "Write the report again, in three paragraphs with citations. For each claim above, say who says what, like "
    '"[1] says that ..., whereas [2] and [3] say that ...", and which document is newer, or which side has more of '
    "them; don't write it as a plain fact, and leave out what no document supports. Keep the rest."
)
_CONFLICT_OF_CHOICES = "Checking it against the documents showed a conflict."
# Where the kind of conflict is known: what decides between the sides, and what it means for a choice.
_DECIDES = {
    Kind.NO_CONFLICT: " The side with more documents is more likely right.",
    Kind.MISINFORMATION: " A document that calls a view a myth is right against those that repeat it; otherwise the "
    "side with more documents is more likely right.",
}
_DECIDES_BY_WEIGHT = {
    Kind.NO_CONFLICT: " The side that weighs more is more likely right.",
    Kind.MISINFORMATION: " A document that calls a view a myth is right against those that repeat it; otherwise the "
    "side that weighs more is more likely right.",
}
_DECIDES_CHOICE = {
    Kind.OUTDATED: "Some documents seem to be overtaken: what the newest say is more likely right.",
    Kind.MISINFORMATION: "Some documents seem to say what is false: what others call a myth is less likely right.",
}
_WEIGHTS = "A document's weight, from 0 to 1, says how far a source of its kind can be relied on."
# What a small model may copy into its answer: each clause of the rules, as it is found again.
_RULES = tuple(
    clause.strip(" .").lower()
    for text in (_CONFLICT, _CONFLICT_OF_WEIGHTS, _WEIGHTS, *_DECIDES.values(), *_DECIDES_BY_WEIGHT.values())
    for clause in re.split(r"(?<=[.;]) ", text)
)
_COPIED = 90.0  # rapidfuzz's ratio, 0 to 100
# Quotes on each side of a claim, and characters of each.
_QUOTES = 3
_QUOTE_LENGTH = 240
# Words with which a statement changes what was said before.
_CHANGES = re.compile(
    r"\b(?:restat|revis|correct|replac|supersed|withdr|discontinu|reduc)\w*"
    r"|\b(?:retire|raise|lower|increase|change|update|end)(?:s|d|ed)?\b|\bending\b"
    r"|\b(?:no longer|instead of|as of|from now on|myth|contrary to|formerly|previously|effective)\b",
    re.IGNORECASE,
)
# Those with which a sentence says itself that something else was so before: "climate change" and "to raise an issue"
# are none. What decides between answers goes by these, what the model is told by those above.
_CORRECTS = re.compile(
    r"\b(?:restat|supersed|withdrawn|discontinu)\w*"
    r"|\b(?:no longer|any ?more|instead of|rather than|from now on|formerly|previously|retired|replaces|abolished)\b"
    r"|\b(?:raised|lowered|increased|reduced|cut|changed|extended|shortened|moved)\s+(?:\S+\s+){0,4}?(?:from|to)\b"
    r"|\b(?:now|as of|since|effective|from)\b.{0,80}\b(?:before|earlier|old|former|until then)\b",
    re.IGNORECASE,
)


def feedback(
    answer: Answer,
    report: ConflictReport,
    documents: Sequence[Document],
    document_answers: Sequence[DocumentAnswer] = (),
    choices: Sequence[str] | None = None,
    kind: Kind | None = None,
    weights: Mapping[str, float] | None = None,
) -> str:
    """The feedback on `answer`, which asks for what the kind of conflict needs, where that is given.

    With `weights`, by document id, the sides weigh up by them, else by their numbers.

    Returns:
        Text to put after the question, or "" where nothing contradicts the answer.
    """
    contradicted = [claim for claim in report.claims if report.sides(claim.id)[1]]
    if not contradicted:
        return ""
    numbers = {document.id: number for number, document in enumerate(documents, 1)}
    by_id = {document.id: document for document in documents}
    first = choices[answer.choice] if choices and answer.choice is not None else answer.text
    lines = [f"Your first answer was: {one_line(first, 600)}"]
    if choices:
        lines.append(_CONFLICT_OF_CHOICES)
    elif kind:
        lines.append(f"{_CONFLICT_OF_CHOICES} It seems that {MEANING[kind]}.")
    else:
        lines.append(_CONFLICT if weights is None else _CONFLICT_OF_WEIGHTS)
    if weights is not None:
        lines.append(_WEIGHTS)
    for claim in contradicted:
        lines += _claim(claim, report, numbers, by_id, weights)
    if report.discounted:
        aside = "".join(f"[{numbers[name]}]" for name in report.discounted)
        lines.append(f"Not counted, since sources of their kind cannot be relied on: {aside}.")
    given = counted(document_answers, report.discounted)
    if len(given) > 1:
        lines.append("The documents' own answers: " + "; ".join(_given(item, numbers) for item in given))
    disputed = _most_disputed(report, weights)
    if kind and choices is None:
        return "\n".join([*lines, _expected(kind, disputed, numbers, by_id, weights)])
    if kind in _DECIDES_CHOICE:
        lines.append(_DECIDES_CHOICE[kind])
    return "\n".join([*lines, *_rule(disputed, numbers, by_id, choices is not None, weights)])


def corrected(
    report: ConflictReport, documents: Sequence[Document], weights: Mapping[str, float] | None = None
) -> Correction | None:
    """The newest document that takes a side on the most disputed claim, and the older ones that say otherwise.

    None where it doesn't say itself that something has changed.
    """
    if not any(report.sides(claim.id)[1] for claim in report.claims):
        return None
    by_id = {document.id: document for document in documents}
    evidence = _most_disputed(report, weights)
    newest = _newest(evidence, by_id, weights)
    if newest is None or not _CORRECTS.search(newest.quote) or _from_the_future(by_id[newest.document_id]):
        return None
    return newest.document_id, [item.document_id for item in evidence if item.stance is not newest.stance]


def without_rules(text: str) -> str:
    """An answer without what it copies of the rules for deciding: they say nothing about what was asked.

    As it is where nothing else would be left.
    """
    kept = text
    for sentence in sentences(text):
        clauses = re.split(r"(?<=;)\s+", sentence)
        left = " ".join(clause for clause in clauses if not _is_rule(clause)).rstrip("; ")
        if left != sentence and len(left) < len(sentence.rstrip("; ")):
            kept = kept.replace(sentence, left if not left or left.endswith((".", "!", "?")) else f"{left}.", 1)
    kept = re.sub(r"[ \t]{2,}", " ", kept).strip()
    return kept if any(map(str.isalnum, kept)) else text


# In an answer's own words: "this is the side with more documents, so it is correct".
_OF_SIDES = re.compile(
    r"\W*(?:this|that|it)\b[^.;]{0,20}\b(?:side|one) (?:with (?:the )?more documents|that weighs more)\b"
)


def _is_rule(clause: str) -> bool:
    said = clause.lower()
    if _OF_SIDES.match(said):
        return True
    return any(len(said) >= len(rule) * 0.8 and fuzz.partial_ratio(rule, said) >= _COPIED for rule in _RULES)


def report_feedback(answer: Answer, report: ConflictReport, documents: Sequence[Document]) -> str:
    """The feedback on a report of several paragraphs, as `feedback`: with all of it, since what it has to keep is long.

    It asks for who says what of each claim that documents contradict, and for no decision between them.
    """
    contradicted = sides(report, documents)
    if not contradicted:
        return ""
    return "\n".join(
        [f"Your first report was:\n{harmless(answer.text)}", _CONFLICT_OF_A_REPORT, contradicted, _REWRITE]
    )


def sides(report: ConflictReport, documents: Sequence[Document]) -> str:
    """The claims that documents contradict, each with its sides, for a prompt; "" where there are none."""
    numbers = {document.id: number for number, document in enumerate(documents, 1)}
    by_id = {document.id: document for document in documents}
    contradicted = [claim for claim in report.claims if report.sides(claim.id)[1]]
    return "\n".join(line for claim in contradicted for line in _claim(claim, report, numbers, by_id, None))


def _claim(
    claim: Claim,
    report: ConflictReport,
    numbers: Mapping[str, int],
    by_id: Mapping[str, Document],
    weights: Mapping[str, float] | None,
) -> list[str]:
    plus, minus = report.sides(claim.id)
    return [
        f'Claim: "{one_line(claim.text, 300)}"',
        *_side("support it", "supports it", plus, numbers, by_id, weights),
        *_side("contradict it", "contradicts it", minus, numbers, by_id, weights),
    ]


def _expected(
    kind: Kind,
    evidence: Sequence[Evidence],
    numbers: Mapping[str, int],
    by_id: Mapping[str, Document],
    weights: Mapping[str, float] | None,
) -> str:
    newest = _newest(evidence, by_id, weights) if kind is Kind.OUTDATED else None
    dated = by_id[newest.document_id].dated if newest else None
    told = f" The newest is [{numbers[newest.document_id]}] ({dated.isoformat()})." if newest and dated else ""
    return (
        f"Write the answer again, in at most three sentences with citations. {EXPECTED[kind]}"
        f"{(_DECIDES if weights is None else _DECIDES_BY_WEIGHT).get(kind, '')}{told}"
    )


def counted(given: Sequence[DocumentAnswer], discounted: Sequence[str]) -> list[DocumentAnswer]:
    """The documents' own answers without the documents that were discounted."""
    left = [(item, [name for name in item.document_ids if name not in discounted]) for item in given]
    return [item.model_copy(update={"document_ids": ids}) for item, ids in left if ids]


def _most_disputed(report: ConflictReport, weights: Mapping[str, float] | None) -> list[Evidence]:
    """The evidence on the claim that most documents take sides on: both sides, else that against it."""
    sides = [report.sides(claim.id) for claim in report.claims if report.sides(claim.id)[1]]
    plus, minus = max(
        sides, key=lambda pair: (min(weigh(side, weights) for side in pair), weigh([*pair[0], *pair[1]], weights))
    )
    return [*plus, *minus]


def _side(
    many: str,
    one: str,
    evidence: Sequence[Evidence],
    numbers: Mapping[str, int],
    by_id: Mapping[str, Document],
    weights: Mapping[str, float] | None,
) -> list[str]:
    verb = one if len(evidence) == 1 else many
    noun = "document" if len(evidence) == 1 else "documents"
    count = "No" if not evidence else str(len(evidence))
    # What one document weighs stands in its own line.
    total = (
        f", with a weight of {float(weigh(evidence, weights)):.2g}" if weights is not None and len(evidence) > 1 else ""
    )
    end = f"{total}:" if evidence else "."
    lines = [f"- {count} {noun if evidence else 'document'} {verb if evidence else one}{end}"]
    for item in evidence[:_QUOTES]:
        dated = by_id[item.document_id].dated
        known = [dated.isoformat()] if dated else []
        known += [f"weight {weights.get(item.document_id, 1.0):.2g}"] if weights is not None else []
        about = f" ({', '.join(known)})" if known else ""
        said = one_line(item.quote, _QUOTE_LENGTH).replace('"', "'")
        quote = f': "{said}"' if said else ""
        lines.append(f"  [{numbers[item.document_id]}]{about}{quote}")
    if len(evidence) > _QUOTES:
        lines.append("  and " + " ".join(f"[{numbers[item.document_id]}]" for item in evidence[_QUOTES:]))
    return lines


def _given(item: DocumentAnswer, numbers: Mapping[str, int]) -> str:
    cited = "".join(f"[{numbers[document_id]}]" for document_id in item.document_ids)
    return f"{cited} {one_line(item.answer, 120)}"


def _rule(
    evidence: Sequence[Evidence],
    numbers: Mapping[str, int],
    by_id: Mapping[str, Document],
    choosing: bool,
    weights: Mapping[str, float] | None,
) -> list[str]:
    if choosing:
        likely = "that more documents support" if weights is None else "whose documents weigh more"
        return [
            f"The option {likely} is more likely right. Keep the first answer unless the evidence "
            "above speaks against it. Reply with the letter of the right option and nothing else."
        ]
    ask = "Write the answer again, in at most three sentences with citations: first what"
    newest = _newest(evidence, by_id, weights)
    if newest is not None:
        dated = by_id[newest.document_id].dated
        one = [item for item in evidence if item.stance is newest.stance]
        first = f"[{numbers[newest.document_id]}] says ({dated.isoformat() if dated else ''}, the newest"
        if _CHANGES.search(f"{by_id[newest.document_id].title} {newest.quote}"):
            first += ", and it corrects the others"
        first += ")"
    else:
        plus = [item for item in evidence if item.stance is Stance.SUPPORTS]
        minus = [item for item in evidence if item.stance is Stance.CONTRADICTS]
        one = max((plus, minus), key=lambda side: weigh(side, weights))
        first = (
            f"{_cited(one, numbers)} say, the side {'with more documents' if weights is None else 'that weighs more'}"
            if weigh(plus, weights) != weigh(minus, weights)
            else (f"{_cited(one, numbers)} say")
        )
    others = [item for item in evidence if item.stance is not one[0].stance]
    return [f"{ask} {first}{f', then what {_cited(others, numbers)} say' if others else ''}."]


def _from_the_future(document: Document) -> bool:
    """Whether a document is dated after it was read."""
    read = document.retrieved_at.date() if document.retrieved_at else datetime.now(UTC).date()
    return document.dated is not None and document.dated > read


def _cited(evidence: Sequence[Evidence], numbers: Mapping[str, int]) -> str:
    return "".join(f"[{number}]" for number in sorted({numbers[item.document_id] for item in evidence}))


def _newest(
    evidence: Sequence[Evidence], by_id: Mapping[str, Document], weights: Mapping[str, float] | None
) -> Evidence | None:
    """The evidence that is newer than all on the other side, where every date on that side is known.

    With weights, only where none on that side weighs more: not everyone can correct everyone.
    """
    dates = {item.document_id: by_id[item.document_id].dated for item in evidence}
    known = [item for item in evidence if dates[item.document_id]]
    if not known:
        return None
    newest = max(known, key=lambda item: dates[item.document_id] or date.min)
    latest = dates[newest.document_id] or date.min
    others = [dates[item.document_id] for item in evidence if item.stance is not newest.stance]
    if weights is not None:
        heaviest = max((weights.get(i.document_id, 1.0) for i in evidence if i.stance is not newest.stance), default=0)
        if heaviest > weights.get(newest.document_id, 1.0):
            return None
    return newest if others and all(other is not None and other < latest for other in others) else None
