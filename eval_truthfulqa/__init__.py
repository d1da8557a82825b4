"""The TruthfulQA evaluator: its data, its runner, its figures and its report. Other choice sets use the last three."""

from eval_truthfulqa.data import Item, load

__all__ = ["Item", "load"]
