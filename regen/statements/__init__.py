"""What a sentence states, by rules alone: amounts, dates, names, denials, and in what two sentences differ."""

from regen.statements.differences import Difference, Kind, difference, other_thing
from regen.statements.sentences import Statement, proper_nouns, statement
from regen.statements.values import Value, without_numbers

__all__ = [
    "Difference",
    "Kind",
    "Statement",
    "Value",
    "difference",
    "other_thing",
    "proper_nouns",
    "statement",
    "without_numbers",
]
