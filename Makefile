# The two commands of the README: `make reproduce` and `make test`; the habits below them.
#   make reproduce [TIER=default|smoke|gpu|paper] [PAPER=jing2022,tian2023] [CORES=2] [VERBOSE=1] [TORCH=cpu]

# An older one, as macOS has, would ignore the shell's flags, and errors with them.
$(if $(filter oneshell,$(.FEATURES)),,$(error GNU make 3.82 or newer is needed, this is $(MAKE_VERSION); on macOS: brew install make, then gmake in place of make))

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
TIER ?= default
PAPER ?=
KILLS ?= 500
MUTANTS ?=
CORES ?= all
# `cpu` is PyTorch's build without CUDA; a .venv that has it keeps it.
ifeq ($(origin TORCH),undefined)
TORCH := $(if $(wildcard .venv/built-from-*-cpu),cpu)
endif
# All that Snakemake and the jobs say, not only figures and errors.
export VERBOSE ?=
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
# One thread a process: Snakemake runs the processes side by side.
export OMP_NUM_THREADS := 1
# Python's files and file names are UTF-8 in any locale.
export PYTHONUTF8 := 1
# Compiled modules are kept: a run starts hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

# They go into commands: what is no plain word stops make before it runs anything.
plain = $(shell [[ '$(subst ','\'',$(value $(1)))' =~ ^([A-Za-z0-9_][A-Za-z0-9_.,-]*)?$$ ]] && echo plain)
$(foreach name,TIER PAPER CORES KILLS MUTANTS VERBOSE TORCH,$(if $(call plain,$(name)),,$(error \
	$(name) is "$(value $(name))"; it takes letters, digits, '_', '.', '-' and commas, and begins with a letter, a digit or '_')))

# Under another name they would be ignored, and the default tier run. Variables of other programs stand before `make`.
TAKEN := TIER PAPER CORES KILLS MUTANTS VERBOSE TORCH PYTHON
given = $(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(name)))
ifeq ($(MAKELEVEL),0)
$(foreach name,$(filter-out $(TAKEN),$(given)),$(error unknown variable $(name); there are: $(TAKEN)))
endif

# The environment is up to date when these files have the content that it was built from, whatever their dates.
WANTED := $(shell cat pyproject.toml constraints.txt | cksum | tr ' ' -)
STAMP := .venv/built-from-$(WANTED)$(TORCH:%=-%)
TOOLS := .venv/tools-from-$(WANTED)
$(if $(filter-out cpu,$(TORCH)),$(error TORCH is "$(TORCH)"; it may be cpu))

INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Ends with an error where constraints.txt has no hashes for the platform.
HASHED := import platform as p, sys; sys.exit((sys.version_info[:2], p.system(), p.machine(), p.libc_ver()[0]) != ((3, 11), "Linux", "x86_64", "glibc"))
# $(call install,LINES,EXTRAS): what a script of sed leaves of constraints.txt, or extras where there are no hashes.
install = { if $(BIN)/python -c '$(HASHED)'; then \
		$(INSTALL) --require-hashes -r <(grep ^setuptools== constraints.txt); \
		$(INSTALL) --require-hashes --force-reinstall --no-deps --no-build-isolation -r <(sed -E '$(1)' constraints.txt); \
		$(INSTALL) --no-deps --no-build-isolation -e .; \
	else \
		echo "constraints.txt has no hashes for this platform: its versions are installed unverified"; \
		$(INSTALL) -c <(sed 's/ --hash.*//' constraints.txt) -e ".[$(2)]"; \
	fi; } 2>&1 | { grep -v '^WARNING' || true; }
EXTRAS := workflow,cluster,multimodal,timm
ALL_BUT_DEV := /^\# dev/,$$d
DEV_ALONE := 1,/^\# dev/d
CPU := https://download.pytorch.org/whl/cpu
OF_TORCH := ^(torch|torchvision|triton|(cuda|nvidia)-[^=]*)==

.PHONY: help
help:
	@grep -E '^#  ' Makefile | cut -c4-; awk -F ':.*## ' '/^[a-z-]+:.*##/ {printf "%-12s  %s\n", $$1, $$2}' Makefile

.PHONY: reproduce
reproduce: $(STAMP) ## every figure, table and verdict of a tier, and the report
	@workflow/scripts/unlock --config tier=$(TIER)
	@snakemake --cores $(CORES) --config tier=$(TIER) $(if $(PAPER),paper=$(PAPER))
	@tail -n 5 results/$(TIER)/logs/report.log

# Not `$(MAKE)`, with which a line runs even where `make -n` only shows it.
ITSELF = $(MAKE) --no-print-directory

.PHONY: test
test: $(TOOLS) ## lint, types, layers and the quick tests
	@said=$$(mktemp); $(ITSELF) lint >$$said 2>&1 & lint=$$!; \
	trap 'kill $$lint 2>/dev/null || true; rm -f $$said' EXIT; trap 'exit 130' INT; \
	tests=0; pytest -m "not slow" -n auto --dist worksteal || tests=$$?; \
	linted=0; wait $$lint || linted=$$?; cat $$said; exit $$((tests ? tests : linted))

.PHONY: test-slow
test-slow: $(TOOLS) ## whole DAGs, kills, second clones (about an hour)
	pytest -m slow -n auto --dist worksteal

.PHONY: lint
lint: $(TOOLS) ## ruff, snakefmt, import-linter, mypy
	ruff check .
	ruff format --check .
	snakefmt --check Snakefile workflow
	lint-imports
	mypy

.PHONY: bench
bench: $(TOOLS) ## times beside plain loops (docs/performance.md)
	reprise bench

.PHONY: faults
faults: $(TOOLS) ## kill real runs at random moments, KILLS=500 times (docs/reliability.md)
	PYTHONPATH=src:tests:tests/training python -m reliability.kills $(KILLS)

.PHONY: mutations
mutations: $(TOOLS) ## edit every function that an experiment runs, and see what becomes stale (docs/reliability.md)
	PYTHONPATH=src:tests python -m reliability.mutations

.PHONY: mutants
mutants: $(TOOLS) ## edit the science, MUTANTS=NAME of them or all, and see which test catches each (docs/reliability.md)
	PYTHONPATH=src:tests python -m reliability.science $(MUTANTS)

.PHONY: golden
golden: $(TOOLS) ## write the golden numbers of the smoke tier anew
	python tests/golden/update.py

.PHONY: environment
environment: $(STAMP) ## .venv alone, for `make reproduce`; TORCH=cpu: without CUDA

.PHONY: development
development: $(TOOLS) ## .venv with the tools of the targets that test

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "Reprise needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1 || echo missing). Set PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "$(PYTHON) cannot make virtual environments; on Debian: apt install python3-venv"; exit 1; }
	@free=$$(df -Pk . | awk 'NR == 2 {print int($$4 / 1048576)}'); (( free >= 10 )) || [[ -d .venv ]] || \
		{ echo "The environment (PyTorch) needs 10 GiB of free disk; $$PWD has $$free GiB"; exit 1; }
	@echo "building .venv (a minute or two) ..."
	@rm -f .venv/built-from-*
	@[[ -x $(BIN)/python ]] || $(PYTHON) -m venv .venv
ifeq ($(TORCH),cpu)
	@echo "PyTorch's CPU build has no hashes in constraints.txt: it is installed unverified"
	@$(INSTALL) --force-reinstall --no-deps --index-url $(CPU) $$(sed -nE 's/^(torch|torchvision)(==[^ ]+).*/\1\2/p' constraints.txt)
	@$(call install,$(ALL_BUT_DEV); /$(OF_TORCH)/d,$(EXTRAS))
else
	@$(call install,$(ALL_BUT_DEV),$(EXTRAS))
endif
	@touch $@

$(TOOLS): $(STAMP)
	@echo "installing the tools of development ..."
	@rm -f .venv/tools-from-*
	@$(call install,$(DEV_ALONE),dev)
	@touch $@
