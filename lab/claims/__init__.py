"""One experiment for each claim of the documentation; ``python -m lab NAME`` runs it."""
