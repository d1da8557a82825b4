"""Reports over conflicting documents: how far three prompts, and writing again, qualify what documents disagree on."""
