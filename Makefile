# Every target does its own set-up: a virtual environment in .venv, rebuilt when pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
READY_TO_RUN := $(VENV)/.ready-to-run
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable

.PHONY: demo test check setup bench clean

# The demo needs a part of what development needs, and gets only that.
$(READY_TO_RUN): pyproject.toml
	@echo "Setting up $(VENV); this takes a minute or two the first time."
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) '.[demo]'
	touch $@

$(READY): $(READY_TO_RUN)
	$(INSTALL) '.[dev]'
	touch $@

setup: $(READY)

demo: $(READY_TO_RUN)
	$(BIN)/hfenv demo

test: $(READY)
	$(BIN)/python -m pytest

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python benchmarks/startup.py

clean:
	rm -rf $(VENV) build dist
