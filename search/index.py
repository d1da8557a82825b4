"""The full-text index of one folder: it finds the passages that a query's words stand in, best first.

It is derived from the store: built anew whenever a file changed, in a folder of its own that is moved into place when
it is whole. So the same documents give the same scores, whatever was edited and deleted before, and nothing
half-written is ever searched. Building takes about a second for 10,000 passages.
"""

from __future__ import annotations

import shutil
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from search.store import Store

TITLE_BOOST = 2.0  # a query word in the title counts as this many in the passage

_HEAP_BYTES = 64_000_000
_LONGEST_WORD = 60  # bytes; what is longer is no word
# Words of a question that say nothing about its subject. tantivy's own list ("the", "is", "not") comes on top.
_QUESTION_WORDS = (
    "what which how why when where do does did i we you my our your should can could would have has had from about s t"
)


@dataclass(frozen=True)
class Hit:
    """A passage that matched: how well, and the keys of its file and of itself."""

    score: float
    file: int
    passage: int


class Index:
    """The index over the passages of `store`, kept in the same folder, and built where it isn't up to date.

    `damaged` is whether it was found damaged, and was built again.
    """

    def __init__(self, store: Store) -> None:
        self._home = store.home
        self._store = store
        self.damaged = False
        self._index = self._open()

    def search(self, query: str) -> list[Hit]:
        """Every passage with a word of `query`, best first by BM25; equal scores in the order of path and number.

        Words are compared by their English stems, without case and accents. `query` is text, in no query language.
        """
        import tantivy

        words = analyzer(for_query=True).analyze(query) or analyzer().analyze(query)
        index = self._index
        clauses = []
        for word in dict.fromkeys(words):
            in_title = tantivy.Query.term_query(index.schema, "title", word, "freq")
            in_text = tantivy.Query.term_query(index.schema, "text", word, "freq")
            clauses += [(tantivy.Occur.Should, tantivy.Query.boost_query(in_title, TITLE_BOOST))]
            clauses += [(tantivy.Occur.Should, in_text)]
        if not clauses:
            return []
        searcher = index.searcher()
        found = searcher.search(tantivy.Query.boolean_query(clauses), limit=searcher.num_docs, count=False).hits
        addresses = [address for _, address in found]
        columns = [searcher.fast_field_values(name, addresses) for name in ("place", "file", "passage")]
        ranked = sorted(
            (-score, place, file, passage) for (score, _), place, file, passage in zip(found, *columns, strict=True)
        )
        return [Hit(-negative, file, passage) for negative, _, file, passage in ranked]

    def _open(self) -> Any:
        """The search index of the present state of the store, built where there is none or it is damaged."""
        import tantivy

        built = self._home / f"search-{self._store.generation}-{tantivy.__version__}"
        # tantivy trusts its files, and can crash on damaged ones.
        if built.exists() and _checksum(built) != self._store.checksum:
            self.damaged = True
            shutil.rmtree(built)
        if not built.exists():
            for stale in self._home.glob("search-*"):
                shutil.rmtree(stale, ignore_errors=True)
            try:
                self._build(built)
            except ValueError as error:
                raise OSError(f"the index could not be written: {error}") from error
        index = tantivy.Index.open(str(built))
        index.register_tokenizer("english", analyzer())
        return index

    def _build(self, built: Path) -> None:
        import tantivy

        schema = tantivy.SchemaBuilder()
        for name in ("title", "text"):
            schema.add_text_field(name, tokenizer_name="english", index_option="freq")
        for name in ("place", "file", "passage"):
            schema.add_unsigned_field(name, fast=True)
        unfinished = self._home / "search-unfinished"
        unfinished.mkdir()
        index = tantivy.Index(schema.build(), path=str(unfinished))
        index.register_tokenizer("english", analyzer())
        with index.writer(heap_size=_HEAP_BYTES, num_threads=1) as writer:
            for place, (passage, file, title, text) in enumerate(self._store.texts()):
                document = tantivy.Document()
                document.add_text("title", title)
                document.add_text("text", text)
                document.add_unsigned("place", place)
                document.add_unsigned("file", file)
                document.add_unsigned("passage", passage)
                writer.add_document(document)
            writer.commit()
            writer.wait_merging_threads()
        self._store.keep_checksum(_checksum(unfinished))
        # The checksum is saved first: killed between the two, the next run finds no index and builds it.
        unfinished.rename(built)


def _checksum(folder: Path) -> int:
    checksum = 0
    for path in sorted(folder.iterdir()):
        if path.suffix != ".lock":
            checksum = zlib.crc32(path.read_bytes(), zlib.crc32(path.name.encode(), checksum))
    return checksum


def analyzer(*, for_query: bool = False) -> Any:
    """What makes words of a text. Stop words are taken from the query alone, so that one of only such words works."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

    builder = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.remove_long(_LONGEST_WORD))
    builder = builder.filter(Filter.lowercase()).filter(Filter.ascii_fold())
    if for_query:
        builder = builder.filter(Filter.stopword("english")).filter(Filter.custom_stopword(_QUESTION_WORDS.split()))
    return builder.filter(Filter.stemmer("english")).build()
