# make demo, make test, make lint, make bench: each sets up what it needs in .venv.
VENV := .venv

# Windows sets OS. Run make there in a shell with touch and rm, such as Git Bash.
ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN := $(VENV)/Scripts
EXE := .exe
else
PYTHON ?= python3
BIN := $(VENV)/bin
EXE :=
endif

# Tests start many processes, which start faster from compiled byte code.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo serve node screenshots test test-corpora test-postgresql test-slow test-vectors test-lowest test-pythons reproduction-bounds lint format docs peers bench clean
.DEFAULT_GOAL := help

help:
	@echo "make demo          train on the bundled corpus and show the result"
	@echo "make serve         serve a model of the bundled corpus on http://localhost:8000"
	@echo "make test          lint and run the tests"
	@echo "make test-corpora  run the tests that need corpora: make test-corpora TAXONOMIST_DATA=folder"
	@echo "make test-postgresql  run all tests of the service on PostgreSQL"
	@echo "make test-slow     run the tests that take longer"
	@echo "make test-vectors  run the tests of the built-in encoder of sentences, in .venv-vectors"
	@echo "make test-lowest   run the main paths with the lowest versions of all packages, in .venv-lowest"
	@echo "make test-pythons  run the main paths with newer Pythons, where they are found"
	@echo "make reproduction-bounds  store the numbers of the papers' small experiments for the tests"
	@echo "make lint          ruff, mypy --strict, import-linter; tsc where it is installed"
	@echo "make node          install what checks the screen's scripts, in .node: TypeScript and axe-core"
	@echo "make screenshots   take pictures of all views of the screen, in docs/_screenshots"
	@echo "make format        rewrite the sources in the house format"
	@echo "make docs          build the pages in docs/_build/html"
	@echo "make bench         run the benchmarks and record them in benchmarks/results"
	@echo "make peers         install PECOS and napkinXC for the benchmarks, in .venv-peers"
	@echo "make clean         remove .venv and caches"

$(BIN)/python$(EXE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Taxonomist needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml | $(BIN)/python$(EXE)
	@echo "Installing Taxonomist into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python$(EXE)
	@echo "Installing Taxonomist and its development tools into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.runtime $(VENV)/.server

demo: $(VENV)/.runtime
	@$(BIN)/taxonomist demo

$(VENV)/.server: pyproject.toml | $(BIN)/python$(EXE)
	@echo "Installing Taxonomist and its service into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[server]'
	@touch $@ $(VENV)/.runtime

serve: $(VENV)/.server
	@$(BIN)/taxonomist serve

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@if command -v node >/dev/null && [ -f $(TSC) ]; then \
	  echo "node $(TSC) -p tools/tsconfig.json" && node $(TSC) -p tools/tsconfig.json; \
	else echo "The types of the screen's scripts are not checked: run make node."; fi

# Only checks need node; the screen's files are served as they are.
TSC := .node/node_modules/typescript/bin/tsc

node:
	npm install --silent --no-save --no-audit --no-fund --prefix .node typescript@5.6.3 axe-core@4.14.0

screenshots: $(VENV)/.dev
	$(BIN)/python tools/screenshots.py

format: $(VENV)/.dev
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

# A file's tests stay in one process, and files keep the order that tests/conftest.py gives them.
test: lint
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not slow"

# Make hands variables of its command line to the commands that it runs.
test-corpora: $(VENV)/.dev
	$(BIN)/pytest -n 2 -m "corpora and not slow"

# With SQLite, they are a part of the tests.
test-postgresql: $(VENV)/.dev
	$(BIN)/pytest -n 2 --dist loadfile -m slow -k "postgresql and not killed_again" tests/unit/server

test-slow: $(VENV)/.dev
	$(BIN)/pytest -m slow

# Where the encoder is installed, text classifiers use it by default, and other tests would be slow.
VECTORS := $(VENV)-vectors$(patsubst $(VENV)%,%,$(BIN))

$(VENV)-vectors/.dev: pyproject.toml
	@echo "Installing Taxonomist and the encoder into $(VENV)-vectors ..."
	@$(PYTHON) -m venv $(VENV)-vectors
	@$(VECTORS)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,vectors]'
	@touch $@

test-vectors: $(VENV)-vectors/.dev
	$(VECTORS)/pytest -m "vectors and not slow"

test-lowest: $(VENV)/.dev
	@$(BIN)/python tools/environments.py lowest

test-pythons: $(VENV)/.dev
	@$(BIN)/python tools/environments.py pythons

reproduction-bounds: $(VENV)/.dev
	$(BIN)/python -m tests.integration.reproduction_bounds

$(VENV)/.docs: $(VENV)/.dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "The pages are in docs/_build/html; begin with index.html."

$(VENV)/.bench: $(VENV)/.dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	@touch $@

# PECOS and napkinXC need an environment of their own, and are run there through files.
PEERS := $(VENV)-peers$(patsubst $(VENV)%,%,$(BIN))/python$(EXE)

peers: $(VENV)/.dev
	@$(BIN)/python tools/environments.py peers

bench: $(VENV)/.bench peers
	TAXONOMIST_PEERS=$$(ls $(PEERS) 2>/dev/null) $(BIN)/python -m benchmarks

clean:
	rm -rf docs/_build docs/_figures docs/_screenshots .node docs/reference/generated $(VENV) $(VENV)-lowest $(VENV)-peers $(VENV)-vectors $(VENV)-3.* .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
