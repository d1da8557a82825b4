"""Contradictions between the documents of a folder, before anybody asks.

Sentences are compared, not documents: each with those of other documents that have most words in common with it
(`regen.neighbors`), and of these only the pairs that seem to be about one thing and differ in something
(`regen.statements`) are put to a judge.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from math import comb
from pathlib import Path
from typing import Literal

from pydantic import Field

from regen.judges import Judge
from regen.neighbors import Neighbors
from regen.output import Failure
from regen.quotes import sentence_spans
from regen.statements import (
    Difference,
    Kind,
    Statement,
    difference,
    other_thing,
    proper_nouns,
    statement,
    without_numbers,
)
from regen.titles import Titled, differ_throughout, may_be_two, named_apart
from regen.types import Claim, Document, Evidence, Judgement, Record, Stance

RULES = "rules"
"""The judge that is none of `regen.judges`: what the rules say of two sentences stands."""
NEIGHBORS = 20
"""How many sentences a sentence is compared with, at least where so many are similar to it."""
SIMILARITY = 0.2
"""The least cosine of two sentences' words, values left out, by which they are compared."""
LEAST = 0.545
"""The least confidence of a finding, chosen on the half `tune` of `benchmarks/check_folders.py` and on `examples`."""
_SPEAKING = 30
_LONGEST = 400  # characters; what is longer says many things
_FEWEST = 2
_COMPANY = 0.2  # a name that more of the documents than this share tells none of them apart

_HEADING = re.compile(r"(?m)^[ \t]*#.*$")
_BOUND = re.compile(
    r"^(?:it(?! is an? )|its|they|their|he|his|she|her|this|these|that|those)\b"
    r"|\b(?:this|the) (?:page|document|guide|article|file|note|text|handbook|manual|section|list|overview)\b",
    re.IGNORECASE,
)

Step = Literal["reading", "comparing", "judging"]
Progress = Callable[[Step, int, int], None]


class CheckedSide(Record):
    """What one document says."""

    document: str = Field(description="Path of the file in the folder.")
    title: str
    url: str
    published: date | None = Field(description="Its date, where one is known that is not only its file's.")
    quote: str = Field(description="The sentence, found in the document.")
    also: list[str] = Field(description="Other documents in which the same sentence stands, 29 at most.")


class Finding(Record):
    """Two documents that contradict each other, and in what."""

    confidence: float = Field(
        ge=0,
        le=1,
        description="How surely both are about the same: the mean of the share of their words that both have, by what "
        "these say, and the similarity of their embeddings; then the mean of that and the judge's own confidence, "
        "where it gives one. It ranks, and is no probability.",
    )
    kind: Kind = Field(description="What the sentences differ in.")
    difference: str = Field(description="How they differ, in words.")
    reason: str = Field(description="Why, in the judge's own words; empty where it gives none.")
    newer: Literal["second", "same day", "undated"] = Field(
        description="The second where both have a date, else why neither is: one has none, or both have the same."
    )
    sides: tuple[CheckedSide, CheckedSide] = Field(description="By date where both have one, else by path.")


class CheckReport(Record):
    """What the documents of a folder contradict each other in, and how much work it was to see."""

    folder: str
    judge: str
    documents: int = Field(description="Files that were read.")
    document_pairs: int = Field(description="All pairs of them.")
    sentences: int = Field(description="Different sentences with something to compare.")
    sentence_pairs: int = Field(description="All pairs of them.")
    compared: int = Field(description="Pairs of sentences with enough words in common, which the rules looked at.")
    suspected: int = Field(description="Those that differ, by the rules; a judge other than `rules` saw these.")
    unjudged: int = Field(default=0, description="Of these, how many the judge could not be asked about.")
    findings: list[Finding] = Field(description="The surest first.")
    seconds: float
    warnings: list[str] = []

    def at_least(self, confidence: float) -> list[Finding]:
        """The findings of this confidence or more."""
        return [finding for finding in self.findings if finding.confidence >= confidence]


Checked = CheckReport | Failure
"""What `regen check --json` prints."""


@dataclass(frozen=True)
class _File:
    """A document, all its passages together."""

    path: str
    title: str
    url: str
    published: date | None
    titled: Titled

    @property
    def about(self) -> Statement:
        """Its title."""
        return self.titled.title


@dataclass
class _Said:
    """One sentence, and the files in which it stands, each with how it stands there."""

    statement: Statement
    where: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Pair:
    """Two sentences that seem to contradict each other, and each two files of which one says one and not the other."""

    said: tuple[_Said, _Said]
    same: list[tuple[_File, _File]]
    difference: Difference
    alike: float

    @property
    def files(self) -> tuple[list[_File], list[_File]]:
        """The files of the first two, each with those that contradict the other of them too."""
        x, y = self.same[0]
        return [one for one, other in self.same if other is y], [other for one, other in self.same if one is x]


def check(folder: Path | str, judge: str = RULES, *, progress: Progress | None = None) -> CheckReport:
    """Scans a folder for documents that contradict each other.

    What differs must be an amount, a date, a name, a denial or a direction, and nothing may tell apart what the two
    sentences are about: another name, year, version or kind of thing, in them or in their documents' titles
    (`regen.titles`), or what was and what is, a minimum and a maximum. So documents of a series, whose titles differ in
    nothing but numbers and dates, do not contradict each other, and neither do those about two things of one kind. Both
    sides of a pair are one sentence each: what a document says in several is not put together.

    Args:
        folder: Of documents, as for `search.local`, whose index in the user's cache is used.
        judge: A judge by its name (`regen.judges`), asked about each pair once. For one that asks a language model,
            that model must be configured in DSPy; nothing it says is kept until the end.
        progress: Called with what is being done, how much of it is done, and how much there is.

    Raises:
        InputError: the folder is missing, is no folder, or holds no readable document.
        ConfigurationError: there is no such judge, or the cache cannot be written.
        ProviderError: the judge failed on every pair.
    """
    from regen.judges import make_judge
    from search.local import LocalSearch

    deciding = None if judge == RULES else make_judge(judge)

    def tell(step: Step) -> Callable[[int, int], None]:
        return lambda done, total: progress(step, done, total) if progress else None

    began = time.monotonic()
    read = LocalSearch(Path(folder)).everything(tell("reading"))
    files, said = _sentences(read.documents)
    compared, pairs = _suspects(files, said, tell("comparing"))
    findings, unjudged, warnings = _judged(pairs, deciding, tell("judging"))
    return CheckReport(
        folder=os.fsencode(folder).decode(errors="backslashreplace"),
        judge=judge,
        documents=len(files),
        document_pairs=comb(len(files), 2),
        sentences=len(said),
        sentence_pairs=comb(len(said), 2),
        compared=compared,
        suspected=len(pairs),
        unjudged=unjudged,
        findings=findings,
        seconds=time.monotonic() - began,
        warnings=[*read.warnings, *warnings],
    )


def _sentences(passages: Sequence[Document]) -> tuple[dict[str, _File], list[_Said]]:
    """The files by path, and what they say, the same sentence of several together."""
    found: dict[str, dict[str, str]] = {}
    for passage in passages:
        for start, end in sentence_spans(passage.text):
            sentence = passage.text[start:end]
            # A heading that stands right above a sentence is none of it; what is left stands in the document as it is.
            sentence = _HEADING.split(sentence)[-1].strip()
            if sentence and len(sentence) <= _LONGEST and not sentence.endswith("?"):
                key = " ".join(re.findall(r"[^\s\"*_`]+", sentence)).rstrip(".,").casefold()
                found.setdefault(key, {}).setdefault(_path(passage), sentence)
    proper = proper_nouns(sentence for where in found.values() for sentence in list(where.values())[:1])
    said = [_Said(statement(next(iter(where.values())), proper), where) for where in found.values()]
    of_file: dict[str, list[Statement]] = {}
    for one in said:
        for path in one.where:
            of_file.setdefault(path, []).append(one.statement)
    files = {}
    for passage in passages:
        path = _path(passage)
        there = of_file.get(path, [])
        words = frozenset(word for one in there for word in one.words)
        titled = Titled(statement(passage.title, proper, title=True), words, len(there))
        files[path] = _File(path, passage.title, passage.url, passage.dated, titled)
    return files, [one for one in said if len(one.statement.words) >= _FEWEST]


def _path(passage: Document) -> str:
    return re.sub(r"#\d+$", "", passage.id)


def _suspects(
    files: dict[str, _File], said: Sequence[_Said], progress: Callable[[int, int], None]
) -> tuple[int, list[_Pair]]:
    """How many pairs of sentences were compared, and those that seem to differ on one thing."""
    named: dict[str, set[str]] = {}
    for file in files.values():
        for name in file.about.names:
            named.setdefault(name, set()).add(file.path)
    for one in said:
        for name in one.statement.names:
            named.setdefault(name, set()).update(one.where)
    most = max(_COMPANY * len(files), 3)
    common = frozenset(name for name, where in named.items() if len(where) > most)
    # A sentence without a name of its own is about what its document is about.
    texts = [
        one.statement.words
        if one.statement.names - common or len(one.where) > 1
        else one.statement.words | files[next(iter(one.where))].about.names
        for one in said
    ]
    phrases = [one.statement.phrases for one in said]
    near = Neighbors([words | names for words, names in zip(texts, phrases, strict=True)], phrases)
    known = frozenset(word for one in said for word in one.statement.sequence[1:] if word not in one.statement.names)
    compared, pairs = 0, []

    def fits(first: int, second: int) -> bool:
        a, b = said[first], said[second]
        if len(a.where) == 1 and a.where.keys() == b.where.keys():
            return False
        # Of two things where each has a name of its own and they have none in common.
        ours, others = phrases[first], phrases[second]
        return not (ours - others and others - ours) or bool(ours & others)

    for first, second in near.pairs(NEIGHBORS, SIMILARITY, fits, progress):
        a, b = said[first], said[second]
        compared += 1
        differ = difference(a.statement, b.statement)
        if differ is None:
            continue
        by_name = differ.kind == "name"
        ours, others = (_speaking(files, side, other) for side, other in ((a, b), (b, a)))
        if by_name:
            # What a document is about is not what it says of that.
            ours, others = (
                [file for file in of if not (file.about.names & (one.statement.names - other.statement.names))]
                for of, one, other in ((ours, a, b), (others, b, a))
            )
        same = [(x, y) for x in ours for y in others if _one_thing(a.statement, b.statement, x, y, common, known)]
        if not same:
            continue
        differing = a.statement.names ^ b.statement.names if by_name else frozenset[str]()
        sides = [words - differing for words in (texts[first], texts[second])]
        weights = [sum(map(near.weight, sorted(words))) for words in (*sides, sides[0] & sides[1])]
        shared = weights[2] / ((weights[0] * weights[1]) ** 0.5 or 1.0)
        alike = (shared + _similarity(a.statement, b.statement, every=by_name)) / 2
        if alike >= LEAST:
            pairs.append(_Pair((a, b), same, differ, alike))
    return compared, _on_one_thing(pairs, common)


def _on_one_thing(pairs: Sequence[_Pair], common: frozenset[str]) -> list[_Pair]:
    """The pairs without those of two documents whose titles, and in how much they differ, say that they are about two.

    This takes all pairs: "Simmer for 20 minutes" and "Simmer for 50 minutes" may well be of one soup.
    """
    sentences: dict[tuple[str, ...], tuple[set[int], set[int]]] = {}
    apart: dict[tuple[int, str], set[tuple[int, str]]] = {}
    for pair in pairs:
        for files in pair.same:
            key, said = _in_order(files, pair.said)
            for place, one in enumerate(said):
                sentences.setdefault(key, (set(), set()))[place].add(id(one))
            if may_be_two(files[0].titled, files[1].titled):
                ours, others = ((id(one), file.path) for one, file in zip(pair.said, files, strict=True))
                apart.setdefault(ours, set()).add(others)
                apart.setdefault(others, set()).add(ours)

    def is_one(pair: _Pair, x: _File, y: _File) -> bool:
        a, b = (side.statement for side in pair.said)
        if (a.names - common) & (b.names - common):
            return True
        differences = min(map(len, sentences[_in_order((x, y), pair.said)[0]]))
        ours, others = ((id(one), file.path) for one, file in zip(pair.said, (x, y), strict=True))
        also = {said for said, _ in apart.get(ours, set()) & apart.get(others, set())}
        return not differ_throughout(x.titled, y.titled, differences, 2 + len(also))

    left = [replace(pair, same=[files for files in pair.same if is_one(pair, *files)]) for pair in pairs]
    return [pair for pair in left if pair.same]


def _in_order(files: tuple[_File, _File], said: tuple[_Said, _Said]) -> tuple[tuple[str, ...], tuple[_Said, _Said]]:
    """The paths of two files in order, and what each of them says in that order."""
    paths = (files[0].path, files[1].path)
    return (paths, said) if paths[0] < paths[1] else (paths[::-1], said[::-1])


def _speaking(files: dict[str, _File], side: _Said, other: _Said) -> list[_File]:
    """The files in which a sentence stands and the other does not, the newest first; as many as are worth a look."""
    found = [files[path] for path in side.where if path not in other.where]
    return sorted(found, key=lambda file: (file.published or date.min, file.path), reverse=True)[:_SPEAKING]


def _similarity(a: Statement, b: Statement, *, every: bool) -> float:
    """How similar two sentences are without the names that both have, by which alone they would be, or without any."""
    from regen.models import embeddings

    names = a.names | b.names if every else a.names & b.names
    one, other = embeddings.load().embed([side.without(names) for side in (a, b)])
    return float(one @ other)


def _one_thing(a: Statement, b: Statement, x: _File, y: _File, common: frozenset[str], known: frozenset[str]) -> bool:
    """Whether what two sentences are about may be one thing, as far as names and their documents' titles tell."""
    ours, others = a.names - common, b.names - common
    if x.about != y.about and _is_series(x.title, y.title):
        return False
    if ours & others:
        return True
    if x.about.which and y.about.which and not x.about.which & y.about.which:
        return False
    if named_apart(x.titled, y.titled, a, b, known):
        return False
    if _is_bound(a) or _is_bound(b):
        return bool((x.about.phrases & y.about.phrases) - common)
    here, there = ours | (x.about.names - common), others | (y.about.names - common)
    return not (here - there and there - here) and not other_thing(x.about, y.about)


def _is_bound(side: Statement) -> bool:
    """Whether a sentence says of its document, or of what that is about, what it says."""
    return not side.names and _BOUND.search(side.text) is not None


def _is_series(one: str, other: str) -> bool:
    """Whether two titles differ in numbers and dates alone."""
    return one != other and without_numbers(one) == without_numbers(other)


def _judged(
    pairs: Sequence[_Pair], judge: Judge | None, progress: Callable[[int, int], None]
) -> tuple[list[Finding], int, list[str]]:
    """The pairs that the judge takes for contradictions, as findings, the surest first; how many it could not be asked
    about, and what went wrong."""
    if judge is None:
        found, unjudged, warnings = [_finding(pair) for pair in pairs], 0, list[str]()
    else:
        found, unjudged, warnings = _put_to(judge, pairs, progress)
    found.sort(key=lambda one: (-one.confidence, [side.document for side in one.sides], one.difference))
    return list(_once_each(found)), unjudged, warnings


def _put_to(
    judge: Judge, pairs: Sequence[_Pair], progress: Callable[[int, int], None]
) -> tuple[list[Finding], int, list[str]]:
    """The findings of a judge, how many pairs it could not be asked about, and its warnings."""
    from regen.judges.gather import each_document, refuse_nothing

    documents = [
        Document(id=str(place), text=pair.said[1].where[pair.files[1][0].path], title=pair.files[1][0].title)
        for place, pair in enumerate(pairs)
    ]

    def one(document: Document) -> Judgement:
        return judge.judge([Claim(id="1", text=pairs[int(document.id)].said[0].statement.text)], [document])

    judged, unjudged = each_document(one, documents, progress)
    refuse_nothing(judged, unjudged)
    found, warnings = [], Counter(f"A pair of sentences was not judged: {item.cause}." for item in unjudged)
    for place, judgement in judged.items():
        warnings.update(judgement.warnings)
        warnings.update(f"A pair of sentences was not judged: {item.cause}." for item in judgement.unjudged)
        against = [item for item in judgement.evidence if item.stance is Stance.CONTRADICTS]
        found += [_finding(pairs[int(place)], item) for item in against]
    told = [f"{warning} ({count} times)" if count > 1 else warning for warning, count in warnings.items()]
    return found, len(unjudged) + sum(bool(judgement.unjudged) for judgement in judged.values()), told


def _once_each(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Of several findings on one pair of documents that share a sentence, the surest."""
    seen = set[tuple[str, str, str]]()
    for finding in findings:
        a, b = finding.sides
        facts = {(a.document, b.document, side.quote) for side in finding.sides}
        if not facts & seen:
            seen |= facts
            yield finding


def _finding(pair: _Pair, item: Evidence | None = None) -> Finding:
    sides = []
    for said, files in zip(pair.said, pair.files, strict=True):
        speaker = files[0]
        sides.append(
            CheckedSide(
                document=speaker.path,
                title=speaker.title,
                url=speaker.url,
                published=speaker.published,
                quote=said.where[speaker.path],
                also=[file.path for file in files if file is not speaker],
            )
        )
    first, second = sorted(sides, key=lambda side: side.document)
    newer: Literal["second", "same day", "undated"] = "undated"
    if first.published and second.published:
        first, second = sorted((first, second), key=lambda side: (side.published or date.min, side.document))
        newer = "same day" if first.published == second.published else "second"
    confidence = pair.alike if item is None or item.confidence is None else (pair.alike + item.confidence) / 2
    return Finding(
        confidence=round(min(confidence, 1.0), 3),
        kind=pair.difference.kind,
        difference=pair.difference.reason(exchanged=first is not sides[0]),
        reason=item.reason if item else "",
        newer=newer,
        sides=(first, second),
    )
