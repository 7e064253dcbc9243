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
INSTALL_LOCK = $(BIN)/python tools/install_lock.py $(BIN)/python

.PHONY: demo test soak check bench docs release clean console console-check tested-console conformance-tools postgres-server chromium
.DEFAULT_GOAL := demo

demo: $(VENV)/core.stamp ## all parts end to end: no network, no key
	@$(BUILD_CONSOLE) build || echo "The web console cannot be built here; everything in the terminal works." >&2
	@$(BIN)/uraniborg demo

BUILD_CONSOLE = $(BIN)/python tools/build_console.py
console: $(VENV)/core.stamp ## the web console, if its sources changed
	@$(BUILD_CONSOLE) build

# Tests wait for processes about as often as they work: one more than there are cores keeps all of these busy.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 1)
PYTEST = TMPDIR=$$(tools/temporary_folder) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

test: check tested-console conformance-tools postgres-server chromium ## everything that must hold
	@$(BIN)/python -m compileall -q src # hundreds of processes are started, and where nothing is written each compiles it all
	@$(PYTEST) $(ARGS)

soak: tested-console postgres-server chromium ## tests that take minutes: hundreds of kills
	@$(BIN)/python -m compileall -q src
	@$(PYTEST) -m soak $(ARGS)

check: $(VENV)/dev.stamp console-check ## style, types, import contracts, requirement ledger, the console
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/basedpyright --threads 2 --level error
	@$(BIN)/lint-imports
	@$(BIN)/python -m tests.requirements.ledger --check
	@$(BIN)/python tools/write_console_types.py --check

tested-console: $(VENV)/dev.stamp ## the console and the packages of its browser tests, where npm can fetch them
	@{ $(BUILD_CONSOLE) install && $(BUILD_CONSOLE) build; } \
	  || { test $$? = 3 && test -z "$$CI" && echo "Tests that need the built console will be skipped." >&2; }

console-check: $(VENV)/dev.stamp ## types, style and unit tests of the console, where npm can fetch its packages
	@$(BUILD_CONSOLE) check || { test $$? = 3 && test -z "$$CI" && echo "The console is not checked." >&2; }

CONFORMANCE := tools/conformance
conformance-tools: $(CONFORMANCE)/node_modules/.package-lock.json ## the official MCP suite, where npm can fetch it

$(CONFORMANCE)/node_modules/.package-lock.json: $(CONFORMANCE)/package-lock.json
	@if command -v npm >/dev/null 2>&1; then \
	  echo "Installing the MCP conformance suite ..." >&2; cd $(CONFORMANCE) && \
	  { npm ping --silent --fetch-retries=0 --fetch-timeout=5000 >/dev/null 2>&1 && npm ci --silent >/dev/null 2>&1 \
	    && touch node_modules/.package-lock.json; } \
	  || echo "The npm registry cannot be reached: the conformance tests will be skipped." >&2; fi

chromium: ## the browser of the tests of the console, where it can be had
	@tools/chromium

postgres-server: ## PostgreSQL for the tests of universes, where it can be had
	@tools/postgres_server

bench: $(VENV)/dev.stamp ## every performance claim, against its peer in the same run and against bench/ratios.json
	@$(BIN)/python bench/run.py $(ARGS)

docs: $(VENV)/dev.stamp ## regenerate the generated pages
	@$(BIN)/python -m tests.requirements.ledger --write
	@$(BIN)/python tools/write_universe_pages.py
	@$(BIN)/python tools/write_pflow_pages.py
	@$(BIN)/python tools/write_api_page.py
	@$(BIN)/python -m tests.uraniborg.help_texts
	@$(BIN)/python tools/write_console_types.py

release: $(VENV)/core.stamp ## wheel, sdist and SHA256SUMS in dist/, checked
	@$(BIN)/python tools/make_release.py

clean:
	@rm -rf $(VENV)

$(VENV)/bin/python:
	@echo "Creating $(VENV) ..." >&2
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=python3.x")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/core.stamp: requirements/core.lock pyproject.toml | $(VENV)/bin/python
	@$(INSTALL_LOCK) requirements/core.lock $(UV)
	@echo "Installing uraniborg from this folder ..." >&2
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/dev.stamp: requirements/dev.lock $(VENV)/core.stamp
	@$(INSTALL_LOCK) requirements/dev.lock $(UV)
	@touch $@
