"""Taking a response apart into claims."""

from __future__ import annotations

import dspy


class ExtractClaims(dspy.Signature):
    """List the factual claims that the response makes.

    Each claim is one short sentence that can be understood and checked alone: replace "it", "they" and "the company"
    by what they stand for, and keep numbers, dates, conditions and hedges ("may", "according to some sources") as
    they are. One fact a claim. Where the response says who says something ("document 2 says that ..."), keep that in
    the claim. Leave out citations like [1], questions, advice, and remarks on what the documents don't say. Add
    nothing that the response does not say.
    """

    question: str | None = dspy.InputField(desc="what the response answers")
    response: str = dspy.InputField()
    claims: list[str] = dspy.OutputField(desc="one claim a line")
