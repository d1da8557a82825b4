"""Any set of questions with choices and documents, on the runner and with the figures of `eval_truthfulqa`."""

from eval_choices.data import FORMATS, load

__all__ = ["FORMATS", "load"]
