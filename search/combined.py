"""Several providers at once: their lists merged by reciprocal rank fusion, then the pages of web results read."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from regen.errors import RegenError
from regen.types import Document
from search.base import Search, SearchResults
from search.filters import Filters

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
        filters: What is left out of the merged list, by where a page led to and by the date that was read from it.
    """

    def __init__(
        self, providers: Sequence[Search], reader: Reader | None = None, filters: Filters | None = None
    ) -> None:
        self.providers = list(providers)
        self.reader = reader
        self.filters = filters or Filters()
        self.name = ",".join(provider.name for provider in self.providers)

    def prepare(self, progress: Progress | None = None) -> None:
        """Has every provider that prepares itself (an index over a folder) do so."""
        for provider in self.providers:
            prepare = getattr(provider, "prepare", None)
            if prepare is not None:
                prepare(progress)

    def top(self, query: str, k: int = 10) -> SearchResults:
        """See `search.base.Search`.

        A provider that fails beside others is a warning; where the others find nothing, its error is raised. A document
        that several return is one, and its `source` names them all.
        """
        lists, warnings = self._ask(query, k)
        documents = fuse([found for _, found in lists])[:k]
        web = {
            document.id for provider, found in lists if getattr(provider, "reads_pages", False) for document in found
        }
        pages = [document for document in documents if document.id in web]
        if self.reader is not None and pages:
            read = self.reader.read(pages, query)
            by_id = {document.id: document for document in read.documents}
            documents = [by_id.get(document.id, document) for document in documents]
            warnings += read.warnings
        # Only now is known where a page led to, and from when it is.
        kept, undated = self.filters.keep(documents)
        if len(kept) < len(documents):
            left_out = len(documents) - len(kept)
            warnings.append(
                f"{left_out} {'result was' if left_out == 1 else 'results were'} left out after reading: older than "
                "--since, or of a site that was not asked for."
            )
        ranked = [document.model_copy(update={"rank": rank}) for rank, document in enumerate(kept, 1)]
        return SearchResults(documents=ranked, warnings=list(dict.fromkeys([*warnings, *undated])))

    def _ask(self, query: str, k: int) -> tuple[list[tuple[Search, list[Document]]], list[str]]:
        """Each provider that answered with its list, and the warnings."""
        if len(self.providers) == 1:
            found = self.providers[0].top(query, k)
            return [(self.providers[0], list(found.documents))], list(found.warnings)
        lists: list[tuple[Search, list[Document]]] = []
        warnings: list[str] = []
        failed: list[RegenError] = []
        with ThreadPoolExecutor(max_workers=len(self.providers), thread_name_prefix="search") as pool:
            asked = [pool.submit(contextvars.copy_context().run, provider.top, query, k) for provider in self.providers]
            for provider, future in zip(self.providers, asked, strict=True):
                try:
                    found = future.result()
                except RegenError as error:
                    failed.append(error)
                    warnings.append(f"The search provider {provider.name} failed, and the others went on: {error}")
                    continue
                lists.append((provider, list(found.documents)))
                warnings += found.warnings
        if failed and not any(found for _, found in lists):
            # That one of them has nothing does not make a failed search an empty one.
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
    sources = ",".join(dict.fromkeys(name for document in same for name in document.source.split(",")))
    return longest.model_copy(
        update={
            "rank": rank,
            "source": sources,
            "published": dated.published,
            "published_from": dated.published_from,
        }
    )
