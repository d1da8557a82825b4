"""The pairs that the built-in judge is trained on: labelled by people, and made from the same sets' passages."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regen.quotes import sentences
from regen.readings import content, same_answer
from training.changes import asserted, changed, denied, names_in, rejected, statements
from training.plain import plain

SUPPORTS, CONTRADICTS, IRRELEVANT = "supports", "contradicts", "irrelevant"
_FACTCHECK = {"completely-support": SUPPORTS, "partially-support": SUPPORTS, "refute": CONTRADICTS}
FILES = {name: f"{name}_dev.jsonl" for name in ("factcheck_stance", "ramdocs", "conflict_nq")}

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Pair:
    """A claim, a text, and what the text says of the claim."""

    claim: str
    text: str
    stance: str
    source: str


def parts(folder: Path) -> dict[str, dict[str, list[Row]]]:
    """The rows of each set, in three parts that share no claim, question or evidence: train, held (10%), test (20%).

    Raises:
        OSError: a file is missing.
    """
    found: dict[str, dict[str, list[Row]]] = {}
    for name, file in FILES.items():
        rows = [json.loads(line) for line in (folder / file).read_text(encoding="utf-8").splitlines()]
        if name == "factcheck_stance":
            groups = _connected([(row["claim"], row["evidence"]) for row in rows])
        else:
            groups = [row["question"] for row in rows]
        found[name] = {"train": [], "held": [], "test": []}
        for row, group in zip(rows, groups, strict=True):
            found[name][_part(group)].append(row)
    return found


def labelled(part: Mapping[str, Sequence[Row]], draw: random.Random) -> list[Pair]:
    """The pairs that people labelled."""
    return [
        *_factcheck(part["factcheck_stance"]),
        *_ramdocs(part["ramdocs"], draw),
        *_conflict_nq(part["conflict_nq"], draw),
    ]


def made(part: Mapping[str, Sequence[Row]], draw: random.Random, each: int = 2, *, short: bool = False) -> list[Pair]:
    """Pairs made from passages: a statement of one, against it, against it changed, and against it without that.

    For each statement the passage and the statement are changed, alone and together, so that nothing in a claim by
    itself tells what the text says of it.

    Args:
        part: The rows of each set.
        draw: Where chance comes from.
        each: Statements a passage.
        short: Whether a text is the sentence with the statement alone, or with one beside it, and not the passage.
    """
    passages = _passages(part)
    names = names_in(passages)
    near = _Nearest(passages)
    found: list[Pair] = []
    for number, passage in enumerate(passages):
        said = sentences(passage)
        picked = statements(said)
        draw.shuffle(picked)
        for place, claim in picked[:each]:
            other = near.of(claim, number, draw)
            if short:
                first = max(0, place - draw.choice((0, 0, 0, 1)))
                cut = said[first : place + draw.choice((1, 1, 1, 2))]
                found += _variants(claim, cut, place - first, draw, names, draw.choice(sentences(other)))
            else:
                found += _variants(claim, said, place, draw, names, other)
    if not short:
        for row in part["factcheck_stance"]:
            found += _claims_changed(row, draw, names)
    return found


def plain_pairs(draw: random.Random, count: int) -> list[Pair]:
    """Pairs of a sentence or two about made-up things (`plain.plain`)."""
    return [Pair(claim, text, stance, "plain") for claim, text, stance in plain(draw, count)]


def _variants(
    claim: str, said: Sequence[str], place: int, draw: random.Random, names: Sequence[str], other: str
) -> Iterator[Pair]:
    def text(sentence: str | None) -> str:
        return " ".join([*said[:place], *([sentence] if sentence else []), *said[place + 1 :]])

    whole, without = text(said[place]), text(None)
    options = [Pair(claim, whole, SUPPORTS, "made"), Pair(claim, text(rejected(claim, draw)), CONTRADICTS, "rejected")]
    if len(said) > 2:
        options.append(Pair(claim, without, IRRELEVANT, "without"))
    options.append(Pair(claim, other, IRRELEVANT, "other"))
    change = changed(claim, draw, names)
    if change and change[0] in said[place]:
        old, new = change
        claim2, whole2 = claim.replace(old, new), whole.replace(old, new)
        options += [
            Pair(claim2, whole, CONTRADICTS, "changed"),
            Pair(claim, whole2, CONTRADICTS, "changed"),
            Pair(claim2, whole2, SUPPORTS, "made"),
            Pair(claim2, other, IRRELEVANT, "other"),
            Pair(claim, text(f"{rejected(claim2, draw)} {said[place]}"), SUPPORTS, "rejected"),
            Pair(claim2, text(f"{rejected(claim2, draw)} {said[place]}"), CONTRADICTS, "rejected"),
        ]
    denial = denied(claim)
    if denial:
        options += [
            Pair(denial, whole, CONTRADICTS, "denied"),
            Pair(claim, text(denial), CONTRADICTS, "denied"),
            Pair(denial, text(denial), SUPPORTS, "made"),
            Pair(denial, without if len(said) > 2 else other, IRRELEVANT, "without"),
        ]
    yield from draw.sample(options, min(4, len(options)))


def _claims_changed(row: Row, draw: random.Random, names: Sequence[str]) -> Iterator[Pair]:
    """People's claims, changed: what supported them contradicts them then, and what was irrelevant stays so."""
    claim, text = row["claim"], row["evidence"]
    change = changed(claim, draw, names)
    others = [claim.replace(*change)] if change else []
    denial = denied(claim)
    others += [denial] if denial else []
    if not others:
        return
    if row["stance"] == "completely-support":
        # A name or number that the evidence does not have is not contradicted by it for sure; one that it has, is.
        for other in others:
            if other == denial or (change and change[0] in text):
                yield Pair(other, text, CONTRADICTS, "claim changed")
        yield Pair(claim, f"{rejected(claim, draw)} {_tail(text)}", CONTRADICTS, "claim rejected")
    elif row["stance"] == "irrelevant" and draw.random() < 0.25:
        yield Pair(draw.choice(others), text, IRRELEVANT, "claim changed")


def _tail(text: str) -> str:
    return " ".join(sentences(text)[-2:])


def _factcheck(rows: Sequence[Row]) -> Iterator[Pair]:
    for row in rows:
        yield Pair(row["claim"], row["evidence"], _FACTCHECK.get(row["stance"], IRRELEVANT), "factcheck_stance")


def _ramdocs(rows: Sequence[Row], draw: random.Random) -> Iterator[Pair]:
    for row in rows:
        given = [*row["gold_answers"], *row["wrong_answers"]]
        answers = list(dict.fromkeys(answer for answer in given if answer != "unknown"))[:4]
        for answer in answers:
            for document in row["documents"]:
                if document["type"] == "noise" or document["answer"] == "unknown":
                    stance = IRRELEVANT
                else:
                    stance = SUPPORTS if same_answer(answer, document["answer"]) else CONTRADICTS
                yield Pair(asserted(row["question"], answer, draw), document["text"], stance, "ramdocs")
        for other in draw.sample(list(rows), min(2, len(rows))):
            if other is not row and answers and other["documents"]:
                text = draw.choice(other["documents"])["text"]
                yield Pair(asserted(row["question"], draw.choice(answers), draw), text, IRRELEVANT, "ramdocs")


def _conflict_nq(rows: Sequence[Row], draw: random.Random) -> Iterator[Pair]:
    for row in rows:
        question = row["cleaned_question"]
        for kind, other in (("real", "fake"), ("fake", "real")):
            short = row[f"{kind}_short_answer"]
            full = next(iter(sentences(row[f"{kind}_answer"])), "")
            for passage in row[f"{kind}_passages"]:
                text = passage["passage"]
                words = content(short) - content(question)
                if kind == "fake" and len(words & content(text)) < 0.6 * len(words):
                    continue
                yield Pair(asserted(question, short, draw), text, SUPPORTS, "conflict_nq")
                yield Pair(asserted(question, row[f"{other}_short_answer"], draw), text, CONTRADICTS, "conflict_nq")
                if 5 <= len(full.split()) <= 40:
                    yield Pair(full, text, SUPPORTS, "conflict_nq")
                against = next(iter(sentences(row[f"{other}_answer"])), "")
                if 5 <= len(against.split()) <= 40:
                    yield Pair(against, text, CONTRADICTS, "conflict_nq")
        for stranger in draw.sample(list(rows), min(3, len(rows))):
            if stranger is not row:
                text = draw.choice([*stranger["real_passages"], *stranger["fake_passages"][:1]])["passage"]
                answer = draw.choice([row["real_short_answer"], row["fake_short_answer"]])
                yield Pair(asserted(question, answer, draw), text, IRRELEVANT, "conflict_nq")


def _passages(part: Mapping[str, Sequence[Row]]) -> list[str]:
    texts = [row["evidence"] for row in part["factcheck_stance"]]
    texts += [document["text"] for row in part["ramdocs"] for document in row["documents"]]
    for row in part["conflict_nq"]:
        texts += [passage["passage"] for passage in [*row["real_passages"], *row["fake_passages"]]]
    return list(dict.fromkeys(_tidy(text) for text in texts))


def _tidy(text: str) -> str:
    """A passage without the blanks that its tokens stand apart by."""
    text = text.replace(" 's", "'s").replace("`` ", '"').replace(" ''", '"')
    return re.sub(r" ([,.;:)])", r"\1", text)


class _Nearest:
    """Finds a passage that shares rare words with a claim and is not the one that the claim comes from."""

    def __init__(self, passages: Sequence[str]) -> None:
        self._passages = passages
        self._words = [content(passage) for passage in passages]
        count = Counter(word for words in self._words for word in words)
        self._rare = {word: 1 / number for word, number in count.items()}
        self._places: dict[str, list[int]] = {}
        for place, words in enumerate(self._words):
            for word in words:
                if count[word] <= 200:
                    self._places.setdefault(word, []).append(place)

    def of(self, claim: str, own: int, draw: random.Random) -> str:
        """A near one, or by chance one in four any at all."""
        if draw.random() < 0.25:
            return draw.choice(self._passages)
        words = content(claim)
        near = {place for word in words for place in self._places.get(word, ()) if place != own}
        # What nearly repeats the passage says the same, or the opposite.
        near = {place for place in near if len(self._words[place] & self._words[own]) < 0.5 * len(self._words[own])}
        scored = sorted(near, key=lambda place: (-sum(self._rare[word] for word in words & self._words[place]), place))
        # Nor may it say all that the claim says.
        fit = [place for place in scored[:8] if len(words & self._words[place]) < 0.7 * len(words)]
        return self._passages[draw.choice(fit[:4])] if fit else draw.choice(self._passages)


def _connected(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """For each pair the name of its group: pairs that share a claim or a text are in one."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        parent.setdefault(name, name)
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for claim, text in pairs:
        parent[root(f"text {text}")] = root(f"claim {claim}")
    groups: dict[str, str] = {}
    for claim, _ in pairs:
        top = root(f"claim {claim}")
        groups[top] = min(groups.get(top, claim), claim)
    return [groups[root(f"claim {claim}")] for claim, _ in pairs]


def _part(group: str) -> str:
    place = int(hashlib.sha256(group.encode()).hexdigest(), 16) % 100
    return "test" if place < 20 else "held" if place < 30 else "train"
