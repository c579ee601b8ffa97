"""boundshift inside other tools: a check for skore, a model in MLflow, a model card.

Each file imports its tool where it is used, so none of them is needed by the library itself.
"""
