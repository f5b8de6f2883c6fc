# Everything a contributor needs; only Python 3.11+ and make are expected on the machine.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Installed alone, and with everything a contributor needs.
BASE := $(VENV)/.installed-base
STAMP := $(VENV)/.installed

.PHONY: help demo test test-llm lint soak bench wheel-check clean

help:
	@echo "make demo    install into $(VENV) (from the network) and replay the sample session"
	@echo "make test    install what contributors need as well; ruff, mypy and the tests"
	@echo "make test-llm  a turn, a compaction and a fallback with a real model (the first time it compiles llama.cpp)"
	@echo "make soak    long fuzzing, races and faults"
	@echo "make bench   one table of ratios, from one run"
	@echo "make wheel-check  build the wheel, install it elsewhere, replay with it"

# pip compiles what it installs, but not a checkout; without that the first start of a command takes twice as long.
$(BASE): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	$(BIN)/python -m compileall -q policyengine
	@touch $@

$(STAMP): $(BASE)
	$(PIP) -e '.[dev]'
	@touch $@

demo: $(BASE)
	$(BIN)/policyengine replay examples/sample-session.jsonl

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/pytest -n auto

# Not part of `test`: a compiler is needed, and minutes the first time. With LLM_REQUIRED nothing is skipped.
test-llm: $(STAMP)
	$(PIP) -e '.[dev,llm-test]'
	LLM_REQUIRED=1 $(BIN)/pytest -m llm tests/llm

# Properties are tried on twenty times as many examples as in `test`.
soak: $(STAMP)
	EXAMPLES_TIMES=20 $(BIN)/pytest -n auto -m "hypothesis and not soak and not llm" -o addopts="-q --strict-markers"
	$(BIN)/pytest -m soak -o addopts="-q --strict-markers"

bench: $(STAMP)
	$(PIP) -e '.[dev,bench]'
	$(BIN)/python -m tests.bench

# The wheel, in an environment and a folder of its own: what users get, not the checkout.
wheel-check: $(STAMP)
	rm -rf dist $(VENV)-wheel
	$(BIN)/python -m build --outdir dist . >/dev/null
	$(PYTHON) -m venv $(VENV)-wheel
	$(VENV)-wheel/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cp examples/sample-session.jsonl $(VENV)-wheel/
	cd $(VENV)-wheel && bin/policyengine replay sample-session.jsonl | tail -n 4
	cd $(VENV)-wheel && bin/policyengine lint built-in
	cd $(VENV)-wheel && bin/policyengine context --window 200000 --tokens 170000

clean:
	rm -rf $(VENV) $(VENV)-wheel dist build
