# Everything a contributor needs; only Python 3.11+ and make are expected on the machine.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help demo test lint soak bench clean

help:
	@echo "make demo    install into $(VENV) and replay the sample session"
	@echo "make test    ruff, mypy and the tests"
	@echo "make soak    long fuzzing, races and faults"
	@echo "make bench   one table of ratios, from one run"

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

demo: $(STAMP)
	$(BIN)/policyengine replay examples/sample-session.jsonl

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/pytest -n auto

soak: $(STAMP)
	$(BIN)/pytest -m soak -o addopts="-q --strict-markers"

bench: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,bench]'
	$(BIN)/python -m tests.bench

clean:
	rm -rf $(VENV) dist build
