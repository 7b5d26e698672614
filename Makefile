# Everything runs in .venv, which is made on first use and remade when pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
N ?= 10000
# The tests start hundreds of processes, and each of them would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

QUICK := tests/test_filecheck.py tests/check/test_corpus.py tests/test_golden.py tests/test_package.py

.PHONY: demo quick test full releases older-releases lint types unit docs fuzz bench golden codes chromium clean

demo: $(VENV)/.ready
	$(BIN)/fencepost demo

# While one works: kernels with their expected results, and who may import whom.
quick: lint types
	$(BIN)/pytest $(QUICK)

# What guards a commit, real hosts included; CI runs it.
test: lint types unit

# Whole corpora, all seeds, a campaign and what the benches assert.
full: lint types chromium older-releases
	$(BIN)/python scripts/cuda_front_ends.py
	$(BIN)/pytest
	$(MAKE) fuzz bench

lint: $(VENV)/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.ready-dev
	$(BIN)/mypy

unit: $(VENV)/.ready-dev chromium
	$(BIN)/python scripts/triton_environment.py 3.6
	$(BIN)/pytest -m "not full"

# The tests of a release, on every older release of Triton that is accepted.
releases: older-releases
	$(BIN)/pytest tests/hosts/triton/test_older_releases.py

older-releases: $(VENV)/.ready-dev
	$(BIN)/python scripts/triton_environment.py --all

# The docs as a site, in out/site. Not --quiet: then warnings are not counted, and do not fail the build.
docs: $(VENV)/.ready-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

# The browser that opens the pages of `fencepost view` in the tests; quick if it is there.
chromium:
	@scripts/install_chromium.sh

# A campaign of N random kernels; a failure is shrunk and written to out/.
fuzz: $(VENV)/.ready-dev
	$(BIN)/python -m tests.fuzz --kernels $(N)

bench: $(VENV)/.ready-dev chromium
	$(BIN)/python bench/scale.py
	$(BIN)/python bench/view.py
	$(BIN)/python bench/stalls.py
	$(BIN)/python bench/quality.py
	$(BIN)/python bench/strategies.py --kernels 200
	$(BIN)/python bench/pingpong.py --targets gfx942 --waves 8
	$(BIN)/python bench/triton/barriers.py --summary

# Rewrites the golden files, and the pictures and outputs in the docs, from what the tool gives now; read the diff before
# committing it.
golden: $(VENV)/.ready-dev
	$(BIN)/pytest --update-golden
	$(BIN)/python scripts/strategy_pictures.py
	$(BIN)/python scripts/view_pictures.py
	$(MAKE) codes

# docs/codes.md from the pages of the codes.
codes: $(VENV)/.ready
	$(BIN)/python -m fencepost.codes.index_page > docs/codes.md

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.ready: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

# torch by itself and first: what wave-lang asks for would be another build of it, with gigabytes of libraries.
$(VENV)/.ready-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[torch]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	@touch $@ $(VENV)/.ready

clean:
	rm -rf $(VENV) out .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info
