# The two commands that matter are `make demo` and `make test`; `make help` lists the rest.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup models demo test test-editors vscode check format bench bench-gpu clean system

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## make .venv with specls and its tools (compiles llama.cpp: 4 to 12 minutes once)

$(READY): pyproject.toml | system
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "specls needs Python 3.10 or newer: make PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# llama.cpp is compiled from source. Where its compiler or venv is missing, root gets Debian's.
system:
	@missing=; \
	command -v c++ >/dev/null || missing="$$missing g++"; \
	$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || missing="$$missing python3-venv"; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing Debian packages:$$missing"; \
	  apt-get update -qq && apt-get install -qq -y --no-install-recommends $$missing; \
	else \
	  echo "specls needs these packages first:$$missing"; \
	  echo "on Debian or Ubuntu: sudo apt-get install$$missing"; exit 1; \
	fi

models: $(READY) ## fetch the default target and draft, and the small model of the tests (1.7 GB)
	$(BIN)/specls models pull --default
	$(BIN)/specls models pull smollm2-135m

demo: $(READY) ## fetch the default pair, complete a sample file, type a line over LSP
	$(BIN)/specls models pull --default
	$(BIN)/python -m bench.demo

check: $(READY) ## format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

test: $(READY) check models ## all checks and all tests, on the real models
	$(BIN)/python -m pytest

test-editors: $(READY) models ## set up real editors (in ~/.cache/specls-editors) and test in them
	for script in tests/editors/setup_*.sh; do PYTHON=$(PYTHON) $$script || exit 1; done
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,editors]'
	$(MAKE) vscode
	$(BIN)/python -m pytest -m editors tests/editors

vscode: $(READY) ## check, test and pack the VS Code extension (editors/vscode/specls.vsix)
	@command -v npm >/dev/null || { echo "this needs Node.js 20 or newer with npm"; exit 1; }
	rm -rf editors/vscode/server
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir editors/vscode/server .
	cd editors/vscode && npm ci --silent && npm run --silent check && npm test --silent && npm run --silent package

format: $(READY) ## put the code in shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY) models ## measure decoding (bare llama.cpp, our loop, drafts, memory) and typing
	$(BIN)/python -m bench.decode
	$(BIN)/specls bench typing --places 1 --keys 6 --max-tokens 16 --prefix-tokens 192 --suffix-tokens 64

bench-gpu: $(READY) ## measure on a GPU, with random weights in the shapes of 1.5B, 7B and 14B
	PYTHON=$(BIN)/python bench/gpu.sh

clean: ## remove .venv and caches (not the models)
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
