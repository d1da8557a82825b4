"""CONFLICTS (Cattan et al. 2025): how well kinds of conflict are told, and answers do what each kind needs."""
