"""How far each document can be relied on as a source: by a list that the user gives, else as a model assesses it.

Asked once for each document, without the question: what kind of source it is, never whether its claims are true.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, Self, get_args
from urllib.parse import unquote, urlsplit

import dspy
from dspy.utils.exceptions import AdapterParseError

from regen.adapter import PlainAdapter
from regen.choosing import again
from regen.errors import ConfigurationError, InputError
from regen.fence import fence, one_line
from regen.hosts import host_of, plain_host
from regen.judges import Progress
from regen.judges.gather import each_document
from regen.types import Credibility, Document, Unjudged
from signatures import AssessCredibility, Assessment

Mode = Literal["off", "weight", "filter"]
"""Not assessed; evidence counts by its document's weight; evidence of documents below a weight counts for no side."""

THRESHOLD = 0.3
WEIGHTS: Mapping[str, float] = {"high": 1.0, "medium": 0.7, "unknown": 0.5, "low": 0.2}
"""What a document weighs by the model's assessment. Of these only `low` is below the default threshold."""

# The forms of a line, for whoever wrote another one.
_FORMS = "write example.org 0.9, .gov 0.9, file:notes/* 0.5 or * 0.4, with a weight from 0 to 1"
_PART = re.compile(r"#\d+$")


@dataclass(frozen=True)
class SourceList:
    """Weights that a user gives to sources.

    Args:
        hosts: By host; each is also for all its subdomains, and the longest that matches wins.
        files: By a pattern for paths of local files; the longest that matches wins, and of equals the first.
        others: Of every web page that no host matches; None where those are left to the model.
    """

    hosts: Mapping[str, float] = field(default_factory=dict)
    files: Mapping[str, float] = field(default_factory=dict)
    others: float | None = None

    @classmethod
    def read(cls, path: Path) -> Self:
        """The list in a text file: a source and its weight on each line; `#` begins a comment.

        Sources are a host (`example.org`), the end of hosts (`.gov`), paths of local files (`file:notes/*.md`, where
        `*` stands for anything), or `*` for all other web pages.

        Raises:
            InputError: the file cannot be read, or a line of it, with its number.
        """
        from regen.batch import read_lines

        found: dict[str, float] = {}
        numbers: dict[str, int] = {}
        for number, line in read_lines(path):
            text = re.sub(r"(?:^|\s)#.*", "", line).strip()
            if not text:
                continue
            source, weight = _line(text, f"{path}, line {number}")
            if source in found:
                raise InputError(f"{path}, line {number}: {source} stands on line {numbers[source]} as well.")
            found[source], numbers[source] = weight, number
        if not found:
            raise InputError(f"There is no source in {path}: {_FORMS}.")
        return cls(
            hosts={name: weight for name, weight in found.items() if name != "*" and not name.startswith("file:")},
            files={name[5:]: weight for name, weight in found.items() if name.startswith("file:")},
            others=found.get("*"),
        )

    def find(self, document: Document) -> tuple[str, float] | None:
        """What in the list a document matches, and its weight; None where that is nothing."""
        if is_local(document):
            names = _paths(document)
            fits = [pattern for pattern in self.files if any(fnmatchcase(name, pattern) for name in names)]
            pattern = max(fits, key=len, default=None)
            return None if pattern is None else (f"file:{pattern}", self.files[pattern])
        labels = (host_of(document.url) or "").split(".")
        ends = (".".join(labels[place:]) for place in range(len(labels)))
        host = next((end for end in ends if end in self.hosts), None)
        if host is not None:
            return host, self.hosts[host]
        return None if self.others is None else ("*", self.others)


class Assessor(dspy.Module):
    """Says what each document weighs: by the list, 1 for a local file that it does not name, else by the model.

    Args:
        sources: The user's list.
    """

    def __init__(self, sources: SourceList | None = None) -> None:
        super().__init__()
        self.sources = sources or SourceList()
        self.assess = dspy.Predict(AssessCredibility)

    def forward(self, documents: Sequence[Document], progress: Progress | None = None) -> Any:
        """As `weights`, in a `dspy.Prediction`."""
        found, warnings = self.weights(documents, progress)
        return dspy.Prediction(credibility=found, warnings=warnings)

    def weights(
        self, documents: Sequence[Document], progress: Progress | None = None
    ) -> tuple[list[Credibility], list[str]]:
        """The credibility of each document, in their order, and a warning for each cause why some were not assessed.

        One call for each document that the list does not name, all at the same time; one that could not be assessed
        keeps the weight 1.

        Args:
            documents: Ids unique.
            progress: Called with documents assessed and documents to assess.
        """
        found = {document.id: given for document in documents if (given := self._given(document)) is not None}
        left = [document for document in documents if document.id not in found]
        assessed, failed = self._assessed(left, progress)
        for name, assessment in assessed.items():
            found[name] = Credibility(
                document_id=name,
                weight=WEIGHTS[assessment.level],
                level=assessment.level,
                reason=one_line(assessment.reason, 160),
                source="model",
            )
        for item in failed:
            found[item.document_id] = _default(item.document_id, f"not assessed: {one_line(item.cause, 300)}")
        return [found[document.id] for document in documents], _not_assessed(failed)

    def _given(self, document: Document) -> Credibility | None:
        if (listed := self.sources.find(document)) is not None:
            name, weight = listed
            return Credibility(document_id=document.id, weight=weight, reason=f"listed as {name}", source="list")
        return _default(document.id, "a local file") if is_local(document) else None

    def _assessed(
        self, documents: Sequence[Document], progress: Progress | None
    ) -> tuple[dict[str, Assessment], list[Unjudged]]:
        if documents and (self.assess.lm or dspy.settings.lm) is None:
            cause = "the list does not name it, and there is no model to ask"
            return {}, [Unjudged(document_id=document.id, cause=cause) for document in documents]
        try:
            return each_document(self._ask, documents, progress)
        except ConfigurationError as error:
            # That no document can be assessed is no reason to go without an answer.
            return {}, [
                Unjudged(document_id=document.id, cause=str(error).rstrip("."), exit_code=error.exit_code)
                for document in documents
            ]

    def _ask(self, document: Document) -> Assessment:
        """The model's assessment; a reply that cannot be read is asked for a second time, a little warmer."""
        lm = self.assess.lm or dspy.settings.lm
        inputs = {"document": fence(document), "host": host_of(document.url) or ""}
        with dspy.context(adapter=dspy.settings.adapter or PlainAdapter()):
            try:
                reply = self.assess(**inputs)
            except AdapterParseError:
                reply = self.assess(**inputs, config=again(lm, 1))
        assessment: Assessment = reply.assessment
        return assessment


def make_assessor(mode: str, sources: SourceList | str | Path | None = None) -> Assessor | None:
    """The assessor for a mode; None where that is "off".

    Args:
        mode: One of `Mode`.
        sources: The user's list, or the file that it is in (see `SourceList.read`).

    Raises:
        ConfigurationError: there is no such mode.
        InputError: the file cannot be read.
    """
    if mode not in get_args(Mode):
        raise ConfigurationError(f"There is no credibility {mode!r}; there are: {', '.join(get_args(Mode))}.")
    if mode == "off":
        return None
    return Assessor(SourceList.read(Path(sources)) if isinstance(sources, str | Path) else sources)


def is_local(document: Document) -> bool:
    """Whether a document is the user's own: a file, or given without an address. What a web search found never is."""
    if document.url:
        return document.url.lower().startswith("file:")
    return document.source in ("", "local")


def _paths(document: Document) -> set[str]:
    """What a local file may be called in the list: by its name in the folder, or by its whole path."""
    names = {document.id, _PART.sub("", document.id)}
    return names | {unquote(urlsplit(document.url).path)} if document.url else names


def _line(text: str, where: str) -> tuple[str, float]:
    """The source and the weight of a line."""
    source, _, given = text.replace("\t", " ").rpartition(" ")
    source = source.strip()
    try:
        weight = float(given)
    except ValueError:
        weight = -1.0
    if not source or not 0 <= weight <= 1:
        raise InputError(f"{where}: {one_line(text, 60)!r} is no source with a weight: {_FORMS}.")
    if source == "*" or (source.startswith("file:") and source != "file:"):
        return source, weight
    host = plain_host(source.removeprefix("."))
    if host is None:
        raise InputError(f"{where}: {one_line(source, 60)!r} is no source: {_FORMS}.")
    return host, weight


def _default(name: str, reason: str) -> Credibility:
    return Credibility(document_id=name, weight=1.0, reason=reason, source="default")


def _not_assessed(failed: Sequence[Unjudged]) -> list[str]:
    by_cause: dict[str, list[str]] = {}
    for item in failed:
        by_cause.setdefault(item.cause, []).append(item.document_id)
    return [
        f"The credibility of {'document' if len(ids) == 1 else 'documents'} {', '.join(ids)} was not assessed, so that "
        f"{'it keeps' if len(ids) == 1 else 'they keep'} the weight 1: {cause}."
        for cause, ids in by_cause.items()
    ]
