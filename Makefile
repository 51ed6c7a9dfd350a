# Everything a newcomer, a developer and CI do, over one virtual environment that make builds itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
CONSTRAINTS := -c constraints.txt
DEMO_OUT ?= denseflip-demo
PYTEST_ARGS ?=
MUTANTS ?= denseflip.graph.cliques*
SOAK ?=

.DEFAULT_GOAL := help
.PHONY: help demo test models coverage mutants lint types docs serve bench golden package audit soak clean

help: ## Show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

demo: $(VENV)/.demo ## Explain one mouse brain under three classifiers and write a page about it
	$(BIN)/denseflip demo --out $(DEMO_OUT) --force

test: $(VENV)/.test ## Run all tests (those that need the paper's data or a browser say so if they skip)
	$(BIN)/python -m pytest -n 2 --dist worksteal $(PYTEST_ARGS)

coverage: $(VENV)/.dev ## Run all tests under coverage.py and list the lines and branches that none of them runs
	$(BIN)/coverage erase
	-$(BIN)/coverage run -m pytest $(PYTEST_ARGS)
	$(BIN)/coverage combine -q
	$(BIN)/coverage report

mutants: $(VENV)/.dev ## Test the tests by small changes of some functions (MUTANTS='denseflip.graph.cliques*')
	$(BIN)/mutmut run $(foreach name,$(MUTANTS),'$(name)')
	$(BIN)/mutmut results

models: $(VENV)/.models ## Install what the tests of torch, ONNX and HTTP models need (they skip without)

lint: $(VENV)/.dev ## Check style, formatting, spelling, the order of imports and declared dependencies
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/deptry src
	$(BIN)/codespell src tests docs benchmarks README.md CONTRIBUTING.md CHANGELOG.md

types: $(VENV)/.dev ## Check types (mypy, strict)
	$(BIN)/mypy

docs: $(VENV)/.docs ## Build the documentation into docs/_build (warnings are errors)
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

serve: docs ## Serve the documentation at http://localhost:8000
	$(BIN)/python -m http.server --directory docs/_build/html 8000

bench: $(VENV)/.test ## Measure speed, as ratios to a reference in the same run
	@for file in benchmarks/bench_*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

golden: $(VENV)/.test ## Write the golden files anew (review the difference before you commit it)
	$(BIN)/python -m pytest -q $(patsubst %,tests/golden/test_%.py,toy wishes many values) --regenerate-golden
	@git diff --stat -- tests/golden

package: $(VENV)/.package ## Build wheel and sdist, run the packaging checks, and try both in empty environments
	$(BIN)/python scripts/check_package.py

audit: $(VENV)/.test ## Ask the public databases for known holes in what we depend on (needs the network)
	$(PIP) install -q pip-audit
	$(BIN)/pip-audit --requirement constraints.txt --no-deps --disable-pip

soak: $(VENV)/.test ## Try to break it for hours, and write down what happened (SOAK=--short: minutes)
	-$(PIP) install -q atheris
	$(BIN)/python scripts/soak.py $(SOAK)

clean: ## Remove the virtual environment and everything built
	rm -rf $(VENV) docs/_build docs/auto_gallery docs/sg_execution_times.rst dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage* mutants $(DEMO_OUT)

# ---- set-up: one stamp per set of extras --------------------------------------------------------

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "denseflip needs Python 3.11 or newer: make PYTHON=python3.11 …")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install -q --upgrade pip

$(VENV)/.demo: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install -q $(CONSTRAINTS) -e ".[brain]"
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install -q $(CONSTRAINTS) -e ".[all]" --group test
	@touch $@ $(VENV)/.demo

# The version of torch is said here, before anything asks for just any torch: 2.13.0 has a build for
# the processor alone, where a plain `torch` may bring gigabytes for graphics cards.
$(VENV)/.models: pyproject.toml constraints.txt | $(VENV)/.test
	$(PIP) install -q $(CONSTRAINTS) torch==2.13.0
	$(PIP) install -q $(CONSTRAINTS) -e ".[models]"
	@touch $@

$(VENV)/.docs: pyproject.toml constraints.txt | $(VENV)/.models # a tutorial runs a network of PyG
	$(PIP) install -q $(CONSTRAINTS) --group docs
	@touch $@

$(VENV)/.package: pyproject.toml constraints.txt | $(VENV)/.dev # deptry looks at what is installed
	$(PIP) install -q --group package
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install -q $(CONSTRAINTS) -e ".[all]" --group dev
	@touch $@ $(VENV)/.test $(VENV)/.demo
