# Each target makes what it needs: a virtual environment and the project in it.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
OLDEST ?= .venv-oldest
# Workers share the cores: idle OpenMP threads must sleep, not spin, while others compute.
PYTEST := OMP_WAIT_POLICY=passive $(BIN)/python -m pytest --numprocesses auto

.PHONY: demo quick test targets arm oldest lint bench peers report clean

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,lint,bench]'
	touch $@

demo: $(INSTALLED)
	$(BIN)/fastnoise demo --png demo.png

# Under two minutes: all but the marks `slow` and `long` (pyproject.toml says what they are).
quick: $(INSTALLED)
	$(PYTEST) -m 'not slow and not long'

test: $(INSTALLED)
	$(PYTEST)

# The same bits with one thread, and on x86 with AVX2 (with and without VAES) and with SSE2 alone, which
# has no AES either; `SELECTION=` runs every test. bench/suite/targets.py has the same processors.
SELECTION ?= $(foreach name,slices keystream stream reader integer_reader release rounding choice choice_kernel,tests/*/test_$(name).py)
# Where only the cipher differs.
SHORT := $(foreach name,slices keystream,tests/*/test_$(name).py)
HASWELL := +sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+bmi,+bmi2,+f16c,+lzcnt,+movbe,+aes
targets: $(INSTALLED)
	NUMBA_NUM_THREADS=1 $(PYTEST) $(SELECTION)
	NUMBA_CPU_NAME=haswell NUMBA_CPU_FEATURES=$(HASWELL) $(PYTEST) $(SELECTION)
	NUMBA_CPU_NAME=haswell NUMBA_CPU_FEATURES=$(HASWELL),+vaes $(PYTEST) $(SHORT)
	NUMBA_CPU_NAME=generic NUMBA_CPU_FEATURES= $(PYTEST) $(SELECTION)

# Digests on an emulated ARM64, as tests/arm64.py says; tens of minutes.
arm: $(INSTALLED)
	$(BIN)/python tests/arm64.py .arm

# A short selection with the oldest version of each dependency that pyproject.toml allows.
oldest:
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint .ci/oldest.txt --editable '.[test]'
	$(OLDEST)/bin/python -m pytest $(foreach name,stream slices columns plan perturb_files,tests/*/test_$(name).py)

lint: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# The speed tables, then asv's benchmarks, once each (the whole matrix: BENCHMARKS=all make bench).
bench: $(INSTALLED)
	$(BIN)/python -m bench.speed
	$(BIN)/asv machine --yes
	$(BIN)/asv run --quick --python=same --show-stderr

peers: $(INSTALLED)
	$(BIN)/python -m bench.peers

report: $(INSTALLED)
	$(BIN)/python -m bench.report

clean:
	rm -rf $(VENV) $(OLDEST) build dist *.egg-info .asv .bench .pytest_cache .mypy_cache .ruff_cache
