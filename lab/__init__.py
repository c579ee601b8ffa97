"""The laboratory: the paper's reproduction, the benchmark, evidence, speed and scale.

It imports the package and is not part of it; run it from the root of the repository with
``python -m lab``.
"""
