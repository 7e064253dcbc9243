# Every target sets up what it needs from the lock files: Python 3.11 or newer and make are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# uv installs faster where it is present; pip does the same job where it is not.
UV := $(shell command -v uv 2>/dev/null)
ifdef UV
INSTALL = $(UV) pip install --quiet --python $(BIN)/python
else
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check
endif

.PHONY: demo test check bench docs clean
.DEFAULT_GOAL := demo

demo: $(VENV)/core.stamp ## replay a search end to end: no network, no key
	@$(BIN)/uraniborg demo

test: check ## everything that must hold
	@$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

check: $(VENV)/dev.stamp ## style, types, import contracts, requirement ledger
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/basedpyright --level error
	@$(BIN)/lint-imports
	@$(BIN)/python -m tests.requirements.ledger --check

bench: $(VENV)/dev.stamp ## every performance claim, against its peer in the same run
	@for file in bench/bench_*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

docs: $(VENV)/dev.stamp ## regenerate the generated pages
	@$(BIN)/python -m tests.requirements.ledger --write

clean:
	@rm -rf $(VENV)

$(VENV)/bin/python:
	@echo "Creating $(VENV) ..." >&2
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=python3.x")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/core.stamp: requirements/core.lock pyproject.toml | $(VENV)/bin/python
	@echo "Installing from requirements/core.lock ..." >&2
	@$(INSTALL) --require-hashes -r requirements/core.lock
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/dev.stamp: requirements/dev.lock $(VENV)/core.stamp
	@echo "Installing from requirements/dev.lock ..." >&2
	@$(INSTALL) --require-hashes -r requirements/dev.lock
	@touch $@
