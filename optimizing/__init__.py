"""`regen optimize`: data for DSPy's optimizers, and the command that compiles the prompts with them.

A room of its own, since it reads the data of the evaluators, which `regen` itself knows nothing of.
"""
