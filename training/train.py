"""Trains the built-in judge, calibrates it, and writes it as an int8 ONNX graph with its tokenizer and config.

    python -m training.train data --out regen/judges/builtin_model --test held_out

`README.md` beside this file says what it needs, and what comes of it.

The start is MiniLM-L6-H384 as all-MiniLM-L6-v2 leaves it (Wang et al. 2020; Reimers and Gurevych 2019; Apache-2.0),
from that package. Run it again after a break and it goes on after the last whole epoch.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from rich.progress import Progress, TimeRemainingColumn
from torch.nn.functional import cross_entropy
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from training.minilm import export, start
from training.pairs import CONTRADICTS, FILES, IRRELEVANT, SUPPORTS, Pair, labelled, made, parts, plain_pairs

# The order of the model's scores, and the names that NLI models have for them.
LABELS = {SUPPORTS: "entailment", IRRELEVANT: "neutral", CONTRADICTS: "contradiction"}
STANCES = list(LABELS)
MAX_TOKENS = 320
TRAINED_TOKENS = 256  # longer pairs are cut: few are, and they take the time of many


@dataclass(frozen=True)
class Recipe:
    """How the model is trained."""

    epochs: int = 2
    batch: int = 32
    rate: float = 1e-4
    warm_up: float = 0.06
    smoothing: float = 0.05
    decay: float = 0.01
    made: int = 8_000  # pairs made from passages an epoch
    people: int = 2  # times that people's pairs are seen an epoch
    joined: float = 0.15  # share of the texts beside which another one is set
    short_rate: float = 5e-5  # of the last epoch, the one with short texts in it
    short: int = 6_000  # pairs of single sentences of passages
    plain: int = 9_000  # pairs of plain statements about made-up things
    refuted: int = 3  # times that what people call refuted is seen in it
    seed: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder with the public sets")
    parser.add_argument("--out", type=Path, required=True, help="folder for the judge's files")
    parser.add_argument("--test", type=Path, required=True, help="folder for the rows that were left out")
    parser.add_argument("--work", type=Path, default=Path("training-work"), help="folder for what is in between")
    parser.add_argument("--epochs", type=int, default=Recipe.epochs)
    options = parser.parse_args()
    recipe = Recipe(epochs=options.epochs)
    found = parts(options.data)
    options.test.mkdir(parents=True, exist_ok=True)
    for name, rows in found.items():
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows["test"]]
        (options.test / FILES[name]).write_text("".join(lines), encoding="utf-8")
    torch.manual_seed(recipe.seed)
    torch.use_deterministic_algorithms(True)
    folder = start()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(
        folder,
        num_labels=len(STANCES),
        # Two passes over pairs that are mostly new need no dropout, and on a CPU it takes half of the time.
        attention_probs_dropout_prob=0.0,
        hidden_dropout_prob=0.0,
    )
    options.work.mkdir(parents=True, exist_ok=True)
    part = {name: rows["train"] for name, rows in found.items()}
    phases: list[tuple[str, float, list[Callable[[], list[Pair]]]]] = [
        ("epoch", recipe.rate, [partial(_epoch, part, recipe, number) for number in range(recipe.epochs)]),
        ("short", recipe.short_rate, [partial(_short_epoch, part, recipe)]),
    ]
    for name, rate, epochs in phases:
        last = options.work / _kept(name, len(epochs) - 1, len(epochs))
        if last.exists():
            model.load_state_dict(torch.load(last, weights_only=True)["model"])
        else:
            fit(model, tokenizer, [pairs() for pairs in epochs], rate, recipe, options.work, name)
    held = {name: rows["held"] for name, rows in found.items()}
    calibrate(model, tokenizer, labelled(held, random.Random(recipe.seed)), recipe)
    config = {
        "architectures": ["BertForSequenceClassification"],
        "id2label": {str(place): LABELS[stance] for place, stance in enumerate(STANCES)},
        "max_position_embeddings": MAX_TOKENS + 2,
    }
    export(model, folder, options.out, output="logits", axes={0: "texts"}, config=config, reduce_range=True)


def fit(
    model: Any, tokenizer: Any, epochs: Sequence[list[Pair]], rate: float, recipe: Recipe, work: Path, name: str
) -> None:
    """Trains the model on the pairs of each epoch; every epoch is kept in `work` under the name of its kind."""
    model.bert.embeddings.requires_grad_(False)
    wanted = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(wanted, lr=rate, weight_decay=recipe.decay)
    total = sum(-(-len(pairs) // recipe.batch) for pairs in epochs)
    warm = max(1, round(total * recipe.warm_up))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, max(0.0, (total - step) / (total - warm)))
    )
    with Progress(*Progress.get_default_columns()[:-1], TimeRemainingColumn()) as bar:
        task = bar.add_task("training", total=total)
        for number, pairs in enumerate(epochs):
            kept = work / _kept(name, number, len(epochs))
            steps = -(-len(pairs) // recipe.batch)
            if kept.exists():
                state = torch.load(kept, weights_only=True)
                model.load_state_dict(state["model"])
                optimizer.load_state_dict(state["optimizer"])
                schedule.load_state_dict(state["schedule"])
                bar.advance(task, steps)
                continue
            model.train()
            torch.manual_seed(recipe.seed + number)
            loss_sum = 0.0
            for batch in _batches(pairs, recipe, random.Random(recipe.seed + number)):
                inputs, wanted_labels = _inputs(tokenizer, batch, TRAINED_TOKENS)
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    logits = model(**inputs).logits
                loss = cross_entropy(logits.float(), wanted_labels, label_smoothing=recipe.smoothing)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(wanted, 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
                loss_sum += loss.item()
                bar.advance(task)
            bar.console.print(f"{name} {number + 1}: {len(pairs)} pairs, mean loss {loss_sum / steps:.3f}")
            state = {
                "model": model.state_dict(),
                "optimizer": optimizer.state_dict(),
                "schedule": schedule.state_dict(),
            }
            torch.save(state, kept.with_suffix(".part"))
            kept.with_suffix(".part").rename(kept)


def calibrate(model: Any, tokenizer: Any, pairs: Sequence[Pair], recipe: Recipe) -> None:
    """Divides the scores by the temperature that makes the held-back pairs likeliest (Guo et al. 2017)."""
    logits, labels = scores(model, tokenizer, pairs, recipe)
    temperature = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.LBFGS([temperature], max_iter=100)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = cross_entropy(logits / temperature, labels)
        loss.backward()
        return loss

    optimizer.step(closure)
    print(f"temperature {temperature.item():.3f} over {len(pairs)} held-back pairs")
    with torch.no_grad():
        model.classifier.weight /= temperature
        model.classifier.bias /= temperature


def scores(model: Any, tokenizer: Any, pairs: Sequence[Pair], recipe: Recipe) -> tuple[Any, Any]:
    """The model's scores of pairs, and what people say, in the pairs' order."""
    model.eval()
    found = []
    with torch.no_grad():
        for place in range(0, len(pairs), recipe.batch):
            inputs, labels = _inputs(tokenizer, pairs[place : place + recipe.batch])
            found.append((model(**inputs).logits, labels))
    return torch.cat([logits for logits, _ in found]), torch.cat([labels for _, labels in found])


def _kept(name: str, number: int, count: int) -> str:
    return f"{name}-{number + 1}-of-{count}.pt"


def _epoch(part: dict[str, Any], recipe: Recipe, number: int) -> list[Pair]:
    draw = random.Random(f"{recipe.seed}:{number}")
    pairs = [pair for _ in range(recipe.people) for pair in labelled(part, draw)]
    new = made(part, draw)
    pairs += draw.sample(new, min(recipe.made, len(new)))
    return _joined(pairs, recipe, draw)


def _short_epoch(part: dict[str, Any], recipe: Recipe) -> list[Pair]:
    draw = random.Random(f"{recipe.seed}:short")
    people = labelled(part, draw)
    refuted = [pair for pair in people if pair.source == "factcheck_stance" and pair.stance == CONTRADICTS]
    pairs = people + refuted * (recipe.refuted - 1)
    for new, count in ((made(part, draw), recipe.made // 2), (made(part, draw, short=True), recipe.short)):
        pairs += draw.sample(new, min(count, len(new)))
    return _joined(pairs, recipe, draw) + plain_pairs(draw, recipe.plain)


def _joined(pairs: Sequence[Pair], recipe: Recipe, draw: random.Random) -> list[Pair]:
    """The pairs, some with the text of another one beside their own."""
    texts = [pair.text for pair in pairs]
    joined = []
    for pair in pairs:
        if draw.random() < recipe.joined:
            two = [pair.text, draw.choice(texts)]
            draw.shuffle(two)
            pair = replace(pair, text=" ".join(two))
        joined.append(pair)
    return joined


def _batches(pairs: Sequence[Pair], recipe: Recipe, draw: random.Random) -> list[list[Pair]]:
    """Batches of pairs of about the same length, in any order."""
    # With some chance in it, so that not the same pairs meet each time.
    ordered = sorted(pairs, key=lambda pair: len(pair.claim) + len(pair.text) + 80 * draw.random())
    batches = [ordered[place : place + recipe.batch] for place in range(0, len(ordered), recipe.batch)]
    draw.shuffle(batches)
    return batches


def _inputs(tokenizer: Any, pairs: Sequence[Pair], most: int = MAX_TOKENS) -> tuple[Any, Any]:
    inputs = tokenizer(
        [pair.text for pair in pairs],
        [pair.claim for pair in pairs],
        truncation="only_first",
        max_length=most,
        padding=True,
        return_tensors="pt",
    )
    return inputs, torch.tensor([STANCES.index(pair.stance) for pair in pairs])


if __name__ == "__main__":
    main()
