"""Judges measured on what people labelled: single stances, and claims whose documents conflict or don't."""
