"""The TruthfulQA evaluator: so far its data."""

from eval_truthfulqa.data import Item, load

__all__ = ["Item", "load"]
