"""Several providers at once: their lists merged by reciprocal rank fusion, then the pages of web results read."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from regen.errors import RegenError
from regen.types import Document
from search.base import Search, SearchResults

RANK_CONSTANT = 60
"""Cormack, Clarke and Büttcher (2009): a document's score is the sum of 1 / (60 + rank) over the lists it is in."""

Progress = Callable[[int, int], None]


class Reader(Protocol):
    """What reads the pages behind search results."""

    def read(self, documents: Sequence[Document], query: str) -> SearchResults:
        """The same documents in the same order, with the text of their pages where those could be read."""
        ...


class CombinedSearch:
    """One or more providers as one.

    Args:
        providers: Asked at the same time, at least one.
        reader: Reads the pages of results whose provider has `reads_pages`; None leaves them at what it returned.
    """

    def __init__(self, providers: Sequence[Search], reader: Reader | None = None) -> None:
        self.providers = list(providers)
        self.reader = reader
        self.name = ",".join(provider.name for provider in self.providers)

    def prepare(self, progress: Progress | None = None) -> None:
        """Has every provider that prepares itself (an index over a folder) do so."""
        for provider in self.providers:
            prepare = getattr(provider, "prepare", None)
            if prepare is not None:
                prepare(progress)

    def top(self, query: str, k: int = 10) -> SearchResults:
        """See `search.base.Search`.

        A provider that fails beside others is a warning; where none is left, its error is raised. A document that
        several return is one, and its `source` names them all.
        """
        lists, warnings = self._ask(query, k)
        documents = fuse(lists)[:k]
        web = {provider.name for provider in self.providers if getattr(provider, "reads_pages", False)}
        pages = [document for document in documents if web & set(document.source.split(","))]
        if self.reader is not None and pages:
            read = self.reader.read(pages, query)
            by_id = {document.id: document for document in read.documents}
            documents = [by_id.get(document.id, document) for document in documents]
            warnings += read.warnings
        return SearchResults(documents=documents, warnings=warnings)

    def _ask(self, query: str, k: int) -> tuple[list[list[Document]], list[str]]:
        if len(self.providers) == 1:
            found = self.providers[0].top(query, k)
            return [list(found.documents)], list(found.warnings)
        lists, warnings, failed = [], [], []
        with ThreadPoolExecutor(max_workers=len(self.providers), thread_name_prefix="search") as pool:
            asked = [pool.submit(contextvars.copy_context().run, provider.top, query, k) for provider in self.providers]
            for provider, future in zip(self.providers, asked, strict=True):
                try:
                    found = future.result()
                except RegenError as error:
                    failed.append(error)
                    warnings.append(f"The search provider {provider.name} failed, and the others went on: {error}")
                    continue
                lists.append(list(found.documents))
                warnings += found.warnings
        if not lists:
            raise failed[0]
        return lists, warnings


def fuse(lists: Sequence[Sequence[Document]]) -> list[Document]:
    """Ranked lists as one, by reciprocal rank fusion; documents of one id are one, with the longest text of them.

    Equal scores stand in the order of the lists. One list stays as it is.
    """
    scores: dict[str, float] = {}
    same: dict[str, list[Document]] = {}
    for documents in lists:
        for rank, document in enumerate(documents, 1):
            scores[document.id] = scores.get(document.id, 0.0) + 1.0 / (RANK_CONSTANT + rank)
            same.setdefault(document.id, []).append(document)
    ranked = sorted(scores, key=lambda name: -scores[name])
    return [_merged(same[name], rank) for rank, name in enumerate(ranked, 1)]


def _merged(same: Sequence[Document], rank: int) -> Document:
    longest = max(same, key=lambda document: len(document.text))
    dated = next((document for document in same if document.published), longest)
    sources = ",".join(dict.fromkeys(document.source for document in same))
    return longest.model_copy(
        update={
            "rank": rank,
            "source": sources,
            "published": dated.published,
            "published_from": dated.published_from,
        }
    )
