"""Which texts of many have most words in common, without comparing each with each.

Words are weighed by how rare they are (TF-IDF), and only texts that share a word which is not all too common are
compared, so that the work grows about as the number of texts does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from math import log
from typing import Any

COMMON = 400
"""A word in more texts than this finds only those of which it is one of the rarest; it still counts in how similar two
are."""
RAREST = 2
POOL = 100
NAMES = 2.0
_BLOCK = 512


class Neighbors:
    """Texts by their words.

    Args:
        texts: The words of each, without repetition.
        names: Those of them that weigh `NAMES` times as much, since they tell what a text is about.
    """

    def __init__(self, texts: Sequence[Collection[str]], names: Sequence[Collection[str]]) -> None:
        import numpy
        from scipy.sparse import csr_array

        self._frequency = Counter(word for words in texts for word in words)
        self._of = len(texts)
        place = {word: number for number, word in enumerate(sorted(self._frequency))}
        ends, columns, weights, finds = [0], list[int](), list[float](), list[bool]()
        for words, named in zip(texts, names, strict=True):
            ordered = sorted(words)
            columns += [place[word] for word in ordered]
            # A text of common words alone is found by its rarest ones, or none would be in a large folder.
            rarest = sorted(ordered, key=lambda word: (self._frequency[word], word))[:RAREST]
            finds += [self._frequency[word] <= COMMON or word in rarest for word in ordered]
            heavy = [self.weight(word) * (NAMES if word in named else 1.0) for word in ordered]
            length = sum(one * one for one in heavy) ** 0.5 or 1.0
            weights += [one / length for one in heavy]
            ends.append(len(columns))
        finding = numpy.array(weights, dtype=numpy.float32) * numpy.array(finds, dtype=numpy.float32)
        self._finding = csr_array((finding, columns, ends), shape=(len(texts), len(place)))
        self._finding.eliminate_zeros()

    def weight(self, word: str) -> float:
        """How much a word says: its inverse document frequency, 1 or more."""
        return 1.0 + log((self._of + 1) / max(self._frequency[word], 1))

    def pairs(
        self,
        k: int,
        least: float,
        fits: Callable[[int, int], bool],
        progress: Callable[[int, int], None] | None = None,
    ) -> Iterator[tuple[int, int]]:
        """The pairs of texts, each once, of which one is among the `k` most similar to the other.

        Args:
            k: How many of each text.
            least: The least similarity, a cosine in [0, 1].
            fits: Whether two may be neighbors at all; of the `POOL` most similar, those that do not take no place.
            progress: Called with texts done and texts in all.
        """
        import numpy

        other: Any = self._finding.T.tocsr()
        seen = set[tuple[int, int]]()
        for begin in range(0, self._of, _BLOCK):
            end = min(begin + _BLOCK, self._of)
            block = (self._finding[begin:end] @ other).tocsr()
            for row in range(end - begin):
                there = slice(block.indptr[row], block.indptr[row + 1])
                near, similar = block.indices[there], block.data[there]
                if len(near) > POOL:
                    best = numpy.argpartition(-similar, POOL)[:POOL]
                    near, similar = near[best], similar[best]
                found = 0
                for place in numpy.lexsort((near, -similar)):
                    one, two = sorted((begin + row, int(near[place])))
                    if found == k or similar[place] < least:
                        break
                    if one != two and fits(one, two):
                        found += 1
                        if (one, two) not in seen:
                            seen.add((one, two))
                            yield one, two
            if progress:
                progress(end, self._of)
