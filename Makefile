PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint benchmark evidence clean

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/.demo: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[plot]"
	@touch $@

.venv/.test: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	@touch $@ .venv/.demo

demo: .venv/.demo  ## the paper's synthetic problem: train, shift, compare, draw
	$(BIN)/python -m boundshift.demo

lint: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint  ## lint, types, doctests, tests
	$(BIN)/python -m pytest -n auto

benchmark: .venv/.test  ## speed against named rivals and np.sort; writes benchmarks/results
	$(BIN)/python benchmarks/speed.py

EVIDENCE := coverage unsolved multiclass costs recall_floor

evidence: .venv/.test  ## coverage, unsolved fits, many classes, costs, recall floors; writes docs/evidence
	@for name in $(EVIDENCE); do $(BIN)/python benchmarks/$$name.py || failed=1; done; test -z "$$failed"

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
