# Every target does its own set-up: a virtual environment in .venv, rebuilt when pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_TO_RUN := $(VENV)/.ready-to-run
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

.PHONY: demo test test-slow check setup bench fuzz docs browser clean

# The demo needs a part of what development needs, and gets only that.
$(READY_TO_RUN): pyproject.toml
	@echo "Setting up $(VENV); this takes a minute or two the first time."
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) '.[demo]'
	$(BIN)/python -m compileall -q hfenv
	touch $@

$(READY): $(READY_TO_RUN)
	$(INSTALL) '.[dev]'
	touch $@

setup: $(READY)

demo: $(READY_TO_RUN)
	$(BIN)/hfenv demo

test: $(READY) browser
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile -m "not slow"

# What is too long to wait for after each edit: many killed processes, many writers, large repositories.
test-slow: $(READY) browser
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile -m slow

# Pages are looked at in a real browser. Where none is there and one can be installed, it is; else those tests say so.
browser:
	@for name in chromium google-chrome google-chrome-stable chromium-browser; do \
	  command -v $$name >/dev/null 2>&1 && exit 0; done; { \
	  [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && { apt-get update -qq; \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk >/dev/null; }; \
	} || echo "No Chromium here: tests of pages that need one are skipped."

# Pages of the documentation that are made from the code.
docs: $(READY)
	$(BIN)/hfenv rule --format markdown > docs/rules.md
	$(BIN)/hfenv card schema --as markdown > docs/card-fields.md

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/validate_cards.py
	$(BIN)/python benchmarks/push_speed.py
	$(BIN)/python benchmarks/killed_pushes.py
	$(BIN)/python benchmarks/many_writers.py
	$(BIN)/python benchmarks/pull_speed.py
	$(BIN)/python benchmarks/search_speed.py
	$(BIN)/python benchmarks/pages_speed.py

fuzz: $(READY)
	$(INSTALL) '.[bench]'
	$(BIN)/python benchmarks/fuzz_cards.py

clean:
	rm -rf $(VENV) build dist
