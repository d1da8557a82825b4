"""The passage of a page that answers a question best: a window of 512 tokens, as in CONFLICTS (Cattan et al. 2025).

A page is cut into overlapping windows, and these are ranked against the question by BM25, with the page's own windows
as the collection: a word that stands all over the page says little about where the answer is.
"""

from __future__ import annotations

from itertools import accumulate

from search.index import analyzer
from search.passages import WORD_CHARACTERS, count_words, units_of

# Models disagree about what a token is, and a tokenizer would have to be fetched: 512 tokens are taken as three
# quarters as many words, the usual figure for English prose.
WINDOW_TOKENS = 512
WINDOW_WORDS = WINDOW_TOKENS * 3 // 4
STEP_WORDS = WINDOW_WORDS // 3  # from the beginning of a window to that of the next, at least

_HEAP_BYTES = 15_000_000  # the least that tantivy takes


def windows(text: str) -> list[str]:
    """`text` in slices of at most 512 tokens that overlap and begin and end where a sentence does.

    One where the text is no longer than that, none where it is blank. A sentence that is longer than a window is cut
    at a blank; one without blanks is a window of its own.
    """
    if not text.strip():
        return []
    if count_words(text) <= WINDOW_WORDS:
        return [text.strip()]
    units = units_of(text)
    before = [0, *accumulate(unit.words for unit in units)]

    def size(first: int, end: int) -> int:
        """The words of neighbouring units together; short ones without blanks count for less than a word each."""
        return max(before[end] - before[first], (units[end - 1].end - units[first].start) // WORD_CHARACTERS)

    found: list[str] = []
    first, end = 0, 0
    while end < len(units):
        end = first + 1
        while end < len(units) and size(first, end + 1) <= WINDOW_WORDS:
            end += 1
        # The last one reaches back, lest it be short and BM25 prefer it for that.
        while end == len(units) and first > 0 and size(first - 1, end) <= WINDOW_WORDS:
            first -= 1
        found.append(text[units[first].start : units[end - 1].end].strip())
        step = first + 1
        while step < end and size(first, step) < STEP_WORDS:
            step += 1
        first = step
    return [window for window in found if window]


def best_window(text: str, question: str) -> str:
    """The window of `text` that ranks first for `question`; the earliest of those that rank the same.

    Words are compared as in the local search: by their English stems, without case and accents, and without the words
    that any question has. Where no window has a word of the question, it is the first window; "" for blank text.
    """
    found = windows(text)
    if len(found) < 2:
        return "".join(found)
    scores = _bm25(found, analyzer(for_query=True).analyze(question) or analyzer().analyze(question))
    return found[max(range(len(found)), key=lambda place: (scores[place], -place))]


def _bm25(texts: list[str], words: list[str]) -> list[float]:
    """The score of each text, 0 where it has none of `words`."""
    import tantivy

    schema = tantivy.SchemaBuilder()
    schema.add_text_field("text", tokenizer_name="english", index_option="freq")
    schema.add_unsigned_field("place", fast=True)
    index = tantivy.Index(schema.build())
    index.register_tokenizer("english", analyzer())
    with index.writer(heap_size=_HEAP_BYTES, num_threads=1) as writer:
        for place, text in enumerate(texts):
            document = tantivy.Document()
            document.add_text("text", text)
            document.add_unsigned("place", place)
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    clauses = [
        (tantivy.Occur.Should, tantivy.Query.term_query(index.schema, "text", word, "freq"))
        for word in dict.fromkeys(words)
    ]
    scores = [0.0] * len(texts)
    if clauses:
        found = searcher.search(tantivy.Query.boolean_query(clauses), limit=len(texts), count=False).hits
        places = searcher.fast_field_values("place", [address for _, address in found])
        for (score, _), place in zip(found, places, strict=True):
            scores[place] = score
    return scores
