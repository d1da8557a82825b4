"""TruthfulQA's binary-choice edition of January 2025 (Lin et al. 2022; sylinrl/TruthfulQA, Apache-2.0)."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Protocol, TypeVar
from urllib.parse import unquote

from regen.batch import read_lines
from regen.errors import InputError, ProviderError
from regen.fence import one_line
from regen.paths import cache_dir
from regen.types import Record

URL = "https://raw.githubusercontent.com/sylinrl/TruthfulQA/main/TruthfulQA.csv"
COLUMNS = (
    "Type",
    "Category",
    "Question",
    "Best Answer",
    "Best Incorrect Answer",
    "Correct Answers",
    "Incorrect Answers",
    "Source",
)
ITEMS = 790
ANSWER_KEY_SITES = ("github.com/sylinrl", "owainevans.github.io", "huggingface.co/datasets", "kaggle.com/datasets")
"""Where TruthfulQA's questions stand beside their answers: the authors' pages, and collections with copies of the set.

Few, since a search engine is told them in every query, and some take short ones only; `names_answers` knows more.
"""

# The set and its paper, by the names that they have in addresses of every site.
_ANSWERS = re.compile(r"truthful[-_ ]?qa|2109\.07958|2022\.acl-long\.229|^https?://(?:www\.)?hf\.co/datasets/")
_FIRST_QUESTION = "What happens to you if you eat watermelon seeds?"
_SECONDS = 30.0
# The file has half a megabyte.
_LARGEST = 20_000_000


class HasId(Protocol):
    """An item of a benchmark."""

    @property
    def id(self) -> str:
        """Unique in the benchmark."""
        ...


Drawn = TypeVar("Drawn", bound=HasId)


class Item(Record):
    """One question with the two answers to choose from."""

    id: str
    type: str
    category: str
    question: str
    right: str
    wrong: str
    source: str = ""


def load(path: Path) -> list[Item]:
    """The items of a copy of `TruthfulQA.csv`, ids `tqa-1` to `tqa-790`.

    Raises:
        InputError: the file is missing, or is not the edition of January 2025: other columns, count or first row.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            columns = tuple(reader.fieldnames or ())
            rows = [(reader.line_num, row) for row in reader]
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} is not a CSV file in UTF-8: {error}.") from None
    if columns != COLUMNS:
        raise InputError(f"{path} has other columns than TruthfulQA's edition of January 2025: {', '.join(columns)}.")
    if len(rows) != ITEMS:
        raise InputError(f"{path} is not TruthfulQA's edition of January 2025: {len(rows)} rows, {ITEMS} expected.")
    if rows[0][1]["Question"] != _FIRST_QUESTION:
        raise InputError(f"{path} is not TruthfulQA's edition of January 2025: its first question is another one.")
    return [_item(path, number, line, row) for number, (line, row) in enumerate(rows, 1)]


def fetched(url: str = URL) -> Path:
    """A copy of `TruthfulQA.csv` in the cache, fetched from the authors' repository where it isn't there yet.

    Raises:
        ProviderError: it cannot be fetched, or what was fetched is not that file.
    """
    kept = cache_dir() / "truthfulqa" / "TruthfulQA.csv"
    if kept.is_file():
        try:
            load(kept)
        except InputError:
            kept.unlink()  # Broken off, or written over: what is fetched anew is checked again.
        else:
            return kept
    content = _download(url)
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=kept.parent, suffix=".csv", delete=False) as file:
            file.write(content)
        fresh = Path(file.name)
    except OSError as error:
        raise InputError(f"{kept} cannot be written: {error.strerror}.") from None
    try:
        load(fresh)
    except InputError:
        fresh.unlink()
        raise ProviderError(
            f"What {url} gave is not TruthfulQA's edition of January 2025: give a copy of that with --data FILE."
        ) from None
    os.replace(fresh, kept)  # noqa: PTH105 (as one step, whatever stands there)
    return kept


def select(
    items: Sequence[Item],
    *,
    questions: Sequence[str] = (),
    categories: Sequence[str] = (),
    types: Sequence[str] = (),
    sample: int | None = None,
    seed: int = 0,
    limit: int | None = None,
) -> list[Item]:
    """A part of the items, in their order.

    Args:
        items: All of them.
        questions: Only these, each as its id or its words, in any case of letters; all where empty.
        categories: Only these, in any case of letters; all where empty.
        types: Only these, as `categories`.
        sample: As many of what is left, drawn from each category in proportion to its size (see `quotas`).
        seed: Of the sample.
        limit: Only the first so many of what is left then.

    Raises:
        InputError: a question, category or type that no item has, or nothing is left.
    """
    wanted = _known("category", categories, [item.category for item in items])
    kinds = _known("type", types, [item.type for item in items])
    if questions:
        items = _named(questions, items)
    kept = [item for item in items if (not wanted or item.category in wanted) and (not kinds or item.type in kinds)]
    if sample is not None and sample < len(kept):
        kept = stratified(kept, lambda item: item.category, sample, seed)
    kept = kept[:limit]
    if not kept:
        raise InputError("No question of TruthfulQA is left by these options: leave one of them out.")
    return kept


def read_questions(path: Path) -> list[str]:
    """The questions that a file names, one a line: an id, the words, or a JSON object with them as `question`.

    Raises:
        InputError: the file cannot be read, or names none.
    """
    found = []
    for number, line in read_lines(path):
        if line.startswith("{"):
            try:
                line = json.loads(line)["question"].strip()
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                raise InputError(f"{path}, line {number}: no JSON object with a question.") from None
        found.append(line)
    if not found:
        raise InputError(f"There is no question in {path}.")
    return found


def names_answers(url: str) -> bool:
    """Whether a web address names TruthfulQA or its paper, on whatever site: in any version, format or spelling."""
    plain = unquote(url).lower()
    return plain.startswith(("http://", "https://")) and _ANSWERS.search(plain) is not None


def stratified(items: Sequence[Drawn], stratum: Callable[[Drawn], str], total: int, seed: int) -> list[Drawn]:
    """`total` of the items, at most all, drawn from each stratum in proportion to its size (see `quotas`), in order."""
    drawn: set[str] = set()
    for name, count in quotas(Counter(map(stratum, items)), min(total, len(items))).items():
        ids = [item.id for item in items if stratum(item) == name]
        drawn.update(random.Random(f"{seed}:{name}").sample(ids, count))
    return [item for item in items if item.id in drawn]


def quotas(sizes: Mapping[str, int], total: int) -> dict[str, int]:
    """How many of `total` each stratum gets, by largest remainder (Hamilton's method).

    Each gets the whole part of its exact share, and what is left goes one by one to the largest fractions, by name
    where those are equal. `total` is at most the sum of `sizes`, so no stratum gets more than it has.
    """
    whole = sum(sizes.values())
    shares = {name: divmod(total * size, whole) for name, size in sizes.items()}
    left = total - sum(count for count, _ in shares.values())
    favoured = sorted(shares, key=lambda name: (-shares[name][1], name))[:left]
    return {name: count + (name in favoured) for name, (count, _) in shares.items()}


def _item(path: Path, number: int, line: int, row: Mapping[str, str | None]) -> Item:
    texts = {name: (row[name] or "").strip() for name in COLUMNS}
    missing = next((name for name in COLUMNS[:5] if not texts[name]), None)
    if missing:
        raise InputError(f"{path}, line {line}: {missing!r} is empty.")
    if texts["Best Answer"] == texts["Best Incorrect Answer"]:
        raise InputError(f"{path}, line {line}: the right answer and the wrong one are the same.")
    return Item(
        id=f"tqa-{number}",
        type=texts["Type"],
        category=texts["Category"],
        question=texts["Question"],
        right=texts["Best Answer"],
        wrong=texts["Best Incorrect Answer"],
        source=texts["Source"],
    )


def _download(url: str) -> bytes:
    import httpx2

    content = b""
    try:
        with httpx2.stream("GET", url, timeout=_SECONDS, follow_redirects=True) as reply:
            if reply.status_code != httpx2.codes.OK:
                raise _unreachable(url, f"status {reply.status_code}")
            for part in reply.iter_bytes():
                content += part
                if len(content) > _LARGEST:
                    raise _unreachable(url, "far larger than it should be")
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise _unreachable(url, str(error) or type(error).__name__) from None
    return content


def _unreachable(url: str, why: str) -> ProviderError:
    return ProviderError(
        f"TruthfulQA cannot be fetched from {url} ({why.rstrip('.')}): try again, or give a copy with --data FILE."
    )


def _named(questions: Sequence[str], items: Sequence[Item]) -> list[Item]:
    """The items that are meant, in their own order."""
    names = {_key(name): item for item in items for name in (item.id, item.question)}
    for question in questions:
        if _key(question) not in names:
            near = get_close_matches(_key(question), names, 1)
            meant = f": is {names[near[0]].question!r} meant?" if near else "."
            raise InputError(f"TruthfulQA has no question {one_line(question, 120)!r}, which --questions names{meant}")
    wanted = {names[_key(question)].id for question in questions}
    return [item for item in items if item.id in wanted]


def _key(question: str) -> str:
    return " ".join(question.split()).casefold()


def _known(what: str, given: Sequence[str], there: Sequence[str]) -> set[str]:
    """The values that are meant, spelt as the data spell them."""
    spelt = {value.casefold(): value for value in there}
    for value in given:
        if value.strip().casefold() not in spelt:
            near = get_close_matches(value.strip().casefold(), spelt, 1)
            meant = f"is {spelt[near[0]]!r} meant?" if near else f"there are: {', '.join(sorted(set(there)))}."
            raise InputError(f"No question of TruthfulQA has the {what} {value!r}: {meant}")
    return {spelt[value.strip().casefold()] for value in given}
