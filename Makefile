# Each target makes what it needs: a virtual environment and the project in it.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo test lint bench peers report clean

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,lint,bench]'
	touch $@

demo: $(INSTALLED)
	$(BIN)/fastnoise demo --png demo.png

test: $(INSTALLED)
	$(BIN)/python -m pytest

lint: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# The speed tables, then every mechanism once in asv (the whole matrix: asv run).
bench: $(INSTALLED)
	$(BIN)/python -m bench.speed
	$(BIN)/asv machine --yes
	$(BIN)/asv run --quick --python=same --show-stderr --bench ", 100000, '[a-z]*64', 2[)]" --bench engine

peers: $(INSTALLED)
	$(BIN)/python -m bench.peers

report: $(INSTALLED)
	$(BIN)/python -m bench.report

clean:
	rm -rf $(VENV) build *.egg-info .asv .bench .pytest_cache .mypy_cache .ruff_cache
