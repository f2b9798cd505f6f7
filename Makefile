# hosted.services: `make help` lists what can be done here.

# Found before .venv comes first in the search path: it is what .venv is made from.
ifndef PYTHON
PYTHON := $(shell command -v python3)
endif
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

VENV := .venv
BUILD := .build
COLLECTION := ansible_collections/hosted/services
PIP_INSTALL := python -m pip install -q --disable-pip-version-check

# Tools start each other by name (ansible-lint starts ansible-playbook), so the environment comes first.
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
# The working tree under the name that Ansible and the plugins know it by; `make dev` creates it.
export ANSIBLE_COLLECTIONS_PATH := $(CURDIR)/$(BUILD)/dev
export PYTHONPATH := $(CURDIR)/$(BUILD)/dev:$(CURDIR)/tests:$(CURDIR)/tests/sandbox

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' Makefile

# --- what people run first ---------------------------------------------------------------------------------

.PHONY: demo
demo: install ## install the collection, start a sandbox and run the quickstart against it
	@# A collection has to work from these folders alone.
	@cd $(BUILD)/installed/$(COLLECTION) && ls -A | grep -vxE 'meta|playbooks|plugins|roles' | xargs rm -rf
	@ANSIBLE_COLLECTIONS_PATH="$(CURDIR)/$(BUILD)/installed" PYTHONPATH="$(CURDIR)/tests/sandbox" python tests/demo.py

.PHONY: test
test: dev ## run everything that has to pass
	@if [ -n "$${CI:-}" ]; then scripts/packages.sh; fi
	@scripts/stages.sh integration -- unit sanity lint build demo

.PHONY: sandbox
sandbox: dev ## run the sandbox in the foreground
	@echo "To use it, in another shell:"
	@echo
	@echo "  source $(CURDIR)/.venv/bin/activate"
	@echo "  export ANSIBLE_COLLECTIONS_PATH=$(CURDIR)/$(BUILD)/dev"
	@echo "  export HOSTED_SERVICES_HOME=$(CURDIR)/$(BUILD)/sandbox # apart from the records of real accounts"
	@echo
	@exec python -m hosted_sandbox --port 8080 --control-port 8081 --sftp-port 8022 --registry-port 8083

.PHONY: bench
bench: dev ## measure what a task costs, how fast files are, and what large accounts take
	@python tests/benchmarks/run.py
	@$(MAKE) bench-sftp bench-push bench-budget bench-blueprint bench-report bench-scale

# What others offer, at the versions that were compared with; named after them, as .venv is.
PEERS := $(BUILD)/peers
PEERS_LIST := tests/benchmarks/peers.txt
PEERS_STAMP := $(PEERS)/.installed-$(shell cksum < $(PEERS_LIST) | cut -d ' ' -f 1)

# AWX starts jobs with ansible-runner.
SLICES := $(BUILD)/slices
SLICES_LIST := tests/benchmarks/slices.txt
SLICES_STAMP := $(SLICES)/.installed-$(shell cksum < $(SLICES_LIST) | cut -d ' ' -f 1)

# For a part of it: make bench-sftp BENCH_SFTP="--server openssh --data large"
.PHONY: bench-sftp
bench-sftp: dev ## measure sftp_sync against lftp and rclone
	@python tests/benchmarks/sftp.py $(BENCH_SFTP)

.PHONY: bench-push
bench-push: dev ## measure app_image against skopeo, with one large layer and many small ones (BENCH_PUSH="--layers 40")
	@python tests/benchmarks/push.py $(BENCH_PUSH)

.PHONY: bench-budget
bench-budget: dev ## measure what the cost callback and a budget add to a play of 500 tasks
	@python tests/benchmarks/budget.py $(BENCH_BUDGET)

.PHONY: bench-blueprint
bench-blueprint: dev ## measure blueprints against bare calls and against tasks in a loop (BENCH_BLUEPRINT="--rounds 1")
	@python tests/benchmarks/blueprint.py $(BENCH_BLUEPRINT)

.PHONY: bench-relocate
bench-relocate: dev ## measure for how long a relocation of 10 GiB stops a service (BENCH_RELOCATE="--mebibytes 1024")
	@python tests/benchmarks/relocate.py $(BENCH_RELOCATE)

.PHONY: bench-report
bench-report: dev ## measure how long the page of a report of 1000 services takes, and how large it is (SIZES="100 1000")
	@python tests/benchmarks/report.py $(SIZES)

.PHONY: bench-scale
bench-scale: dev ## measure large accounts (SIZES="1000 10000" ROUNDS=3 PARTS="inventory tasks backups")
	@python tests/benchmarks/scale.py

.PHONY: bench-recovery
bench-recovery: dev ## measure how long a project takes to be rebuilt from its copies (BENCH_RECOVERY="--rows 1000")
	@python tests/benchmarks/recovery.py $(BENCH_RECOVERY)

.PHONY: bench-peers
bench-peers: dev $(PEERS_STAMP) ## measure a task against hetzner.hcloud, amazon.aws and mitogen, in an environment of their own
	@python tests/benchmarks/peers.py $(PEERS)

.PHONY: bench-slices
bench-slices: dev $(SLICES_STAMP) ## measure a play over 500 services in four slices, as AWX does (BENCH_SLICES="--rounds 1")
	@python tests/benchmarks/slices.py $(SLICES) $(BENCH_SLICES)

# --- the stages of `make test`, each to be run alone -------------------------------------------------------

# The plugins and the sandbox are checked as packages; what nothing imports is named here.
TYPED_FILES = $(wildcard tests/unit tests/integration tests/attacks tests/faults tests/money tests/calendars tests/benchmarks tests/*.py) scripts
SHORT_PATHS = sed 's\#^[^ ]*$(COLLECTION)/\#\#'

.PHONY: lint
lint: dev ## every linter; one that fails does not hide the next
	@$(MAKE) --keep-going lint-style lint-types lint-test-types lint-yaml lint-ansible lint-docs lint-changelog \
	    lint-licences lint-weight

.PHONY: lint-style
lint-style: dev
	ruff check .
	ruff format --check .

.PHONY: lint-types
lint-types: dev
	mypy -p $(subst /,.,$(COLLECTION)).plugins -p hosted_sandbox | $(SHORT_PATHS)

.PHONY: lint-test-types
lint-test-types: dev
	mypy $(TYPED_FILES) | $(SHORT_PATHS)

.PHONY: lint-yaml
lint-yaml: dev
	yamllint --strict .

.PHONY: lint-ansible
lint-ansible: dev ## ansible-lint on a copy as a fresh clone has it: without .build, and with no collection installed
	python scripts/lint.py

.PHONY: lint-docs
lint-docs: dev
	antsibull-docs lint-collection-docs --plugin-docs --validate-collection-refs all \
	    --disallow-unknown-collection-refs --check-extra-docs-refs . | $(SHORT_PATHS)

.PHONY: lint-changelog
lint-changelog: dev
	antsibull-changelog lint

.PHONY: lint-licences
lint-licences: dev
	reuse lint --quiet || reuse lint --lines

.PHONY: lint-weight
lint-weight: dev ## lines and files by folder, calls and functions of a task, against the budgets in scripts/weigh.py
	@python scripts/weigh.py

# A worker that has nothing left to do takes tests from another one. Integration tests wait for delays of the
# platform and for Ansible's pauses half of their time, so four workers use two cores.
WORKERS := -n 2 --dist worksteal
WAITING_WORKERS := -n 4 --dist worksteal

.PHONY: unit
unit: dev ## the unit tests; of one file or folder: make unit ONLY=tests/unit/plugins/module_utils/...
	pytest -q $(or $(ONLY),$(WORKERS) tests/unit)

.PHONY: target
target: dev ## the integration target of one module: make target NAME=project
	@test -n "$(NAME)" || { echo "Which one? make target NAME=project" >&2; exit 1; }
	pytest -q tests/integration/test_targets.py -k "test_target and $(NAME)-"

# What a whole run has to do with the platform's routes; a test that is run alone keeps nothing.
SEEN := $(CURDIR)/$(BUILD)/routes

# The modules' targets run under profile random:1; TURN=0, TURN=1 and so on give each another one of those that
# have every pair of values between them.
TURN ?=

.PHONY: integration
integration: dev ## real playbooks against a sandbox; the other gap profiles are test-profiles' part
	@rm -rf $(SEEN) && mkdir -p $(SEEN)
	ROUTES_SEEN=$(SEEN) PAIRWISE_TURN=$(TURN) pytest -q $(WAITING_WORKERS) tests/integration
	@python -m integration.coverage $(SEEN)

.PHONY: sandbox-documents
sandbox-documents: dev ## renew docs/sandbox from the sandbox
	@python scripts/sandbox_documents.py

.PHONY: blueprint-schema
blueprint-schema: dev ## renew docs/blueprint.schema.json, by which editors check blueprints
	@python scripts/blueprint_schema.py

.PHONY: event-schema
event-schema: dev ## renew the JSON Schema of the events, next to the event source
	@python scripts/event_schema.py

.PHONY: sandbox-pictures
sandbox-pictures: dev ## renew the pictures of the sandbox's page in docs/guides (needs Chromium)
	@python scripts/sandbox_pictures.py

.PHONY: terminal-pictures
terminal-pictures: dev ## renew the pictures of terminals in docs/guides from what playbooks print on a sandbox
	@python scripts/terminal_pictures.py

.PHONY: report-pictures
report-pictures: dev ## renew the pictures of the report in docs/guides (needs Chromium)
	@python scripts/report_pictures.py

.PHONY: module
module: dev ## write the files of a new module (NAME=webhook); failing tests name what is left to do
	@python scripts/new_module.py "$(NAME)"
	@python scripts/architecture.py

# The former name of the target.
.PHONY: noun
noun: module

.PHONY: architecture
architecture: dev ## draw docs/architecture.svg from the imports
	@python scripts/architecture.py

# What the platform's documentation leaves open is filled another way by each (docs/sandbox/gaps.md).
# `pairwise` stands for all of those that have every pair of values between them, which takes a day;
# PROFILES=pairwise:11-20 for the next slice of them.
PROFILES ?= plain terse wrapped pairwise:1-10
# What looks at the sources alone says the same under each of them.
WITHOUT_PROFILE = tests/integration/test_conventions.py tests/integration/test_architecture.py
EACH_PROFILE = failed=; for profile in $$(python -m hosted_sandbox.profiles --expand $(PROFILES)); do \
    echo "==> profile $$profile"; export SANDBOX_PROFILE=$$profile
LAST_WORD = done; if [ -n "$$failed" ]; then echo "Failed:$$failed"; exit 1; fi

.PHONY: test-profiles
test-profiles: dev ## the integration tests under every gap profile (PROFILES=...)
	@python -m hosted_sandbox.profiles $(PROFILES)
	@$(EACH_PROFILE); pytest -q $(WAITING_WORKERS) tests/integration $(WITHOUT_PROFILE:%=--ignore=%) || failed+=" $$profile"; $(LAST_WORD)

SCENARIOS ?= $(notdir $(patsubst %/,%,$(dir $(wildcard extensions/molecule/*/molecule.yml))))
# After how many of a run's requests it is killed (tests/integration/test_backups_killed.py).
BACKUP_KILLS ?= 1-40
# The same for a blueprint of ten things (tests/integration/test_blueprint_killed.py).
BLUEPRINT_KILLS ?= 1-110
BLUEPRINT_PRUNE_KILLS ?= 1-70
# The same for a clone of three things (tests/integration/test_clone.py).
CLONE_KILLS ?= 1-190
RECOVERY_KILLS ?= random:1000
# The same for a relocation, and for its way back (tests/integration/test_relocate.py).
RELOCATE_KILLS ?= 1-77
RELOCATE_BACK_KILLS ?= 1-55

.PHONY: test-long
test-long: dev ## what takes hours: 100,000 histories, a kill at every request, all scenarios under all profiles
	@scripts/stages.sh long-retention long-sleep long-events long-exports long-reports long-prunes long-clones long-recoveries long-kills long-scenarios long-demos

long-scenarios long-demos: PROFILES = plain terse wrapped pairwise:1-3

.PHONY: long-retention
long-retention: dev
	RETENTION_HISTORIES=100000 RESTIC_HISTORIES=1000 pytest -q -n 2 \
	    tests/unit/plugins/module_utils/_resources/shared/test_retention.py \
	    tests/unit/plugins/module_utils/_resources/shared/test_retention_restic.py

.PHONY: long-sleep
long-sleep: dev ## compare random calendars with a model, minute by minute (CALENDARS=10000)
	@python -m calendars.compare --calendars $(or $(CALENDARS),10000)

.PHONY: long-events
long-events: dev ## compare the event source with a model, killed anywhere (EVENT_HISTORIES=10000)
	EVENT_HISTORIES=$(or $(EVENT_HISTORIES),10000) pytest -q -n 2 -rP --show-capture=stdout \
	    tests/unit/plugins/module_utils/_resources/account_events/test_changes.py
	EVENT_KILLS=12 pytest -q tests/integration/test_event_source.py -k kills

.PHONY: long-exports
long-exports: dev ## export a thousand accounts, and make each again from its export (BLUEPRINT_EXPORTS=0-999)
	BLUEPRINT_EXPORTS=$(or $(BLUEPRINT_EXPORTS),0-999) pytest -q -n 2 \
	    tests/unit/plugins/module_utils/_resources/test_blueprint_info.py

.PHONY: long-reports
long-reports: dev ## compare the figures of two hundred accounts with the platform's (REPORT_ACCOUNTS=0-199)
	REPORT_ACCOUNTS=$(or $(REPORT_ACCOUNTS),0-199) pytest -q -n 2 \
	    tests/unit/plugins/module_utils/_resources/test_report_info.py

.PHONY: long-prunes
long-prunes: dev ## ten thousand random edits of files (BLUEPRINT_PRUNES=0-999, ten each), a thousand random graphs
	BLUEPRINT_GRAPHS=$(or $(BLUEPRINT_GRAPHS),1000) pytest -q --hypothesis-profile search \
	    tests/unit/plugins/module_utils/_resources/blueprints/test_parts.py \
	    tests/unit/plugins/module_utils/_resources/blueprints/test_graph.py
	BLUEPRINT_PRUNES=$(or $(BLUEPRINT_PRUNES),0-999) pytest -q -n 2 \
	    tests/unit/plugins/module_utils/_resources/blueprints/test_prune_edits.py

.PHONY: long-clones
long-clones: dev ## clone random projects under gap profile after gap profile (CLONE_PROJECTS=500)
	CLONE_PROJECTS=$(or $(CLONE_PROJECTS),500) pytest -q -n 2 tests/integration/test_clone.py -k random

.PHONY: long-recoveries
long-recoveries: dev ## kill a thousand recovery drills of ten services anywhere (RECOVERY_KILLS=random:1000 RECOVERY_SEED=1)
	RECOVERY_KILLS=$(RECOVERY_KILLS) pytest -q -n 2 tests/integration/test_recover.py -k killed

.PHONY: long-kills
long-kills: dev
	BACKUP_KILLS=$(BACKUP_KILLS) pytest -q -n 2 tests/integration/test_backups_killed.py
	BLUEPRINT_KILLS=$(BLUEPRINT_KILLS) BLUEPRINT_PRUNE_KILLS=$(BLUEPRINT_PRUNE_KILLS) \
	    pytest -q -n 2 tests/integration/test_blueprint_killed.py
	CLONE_KILLS=$(CLONE_KILLS) pytest -q -n 2 tests/integration/test_clone.py -k killed
	@$(MAKE) long-relocations

.PHONY: long-relocations
long-relocations: dev ## kill a relocation, and its way back, after each of its requests (RELOCATE_KILLS=1-77)
	RELOCATE_KILLS=$(RELOCATE_KILLS) RELOCATE_BACK_KILLS=$(RELOCATE_BACK_KILLS) \
	    pytest -q -n 2 tests/integration/test_relocate.py -k killed

.PHONY: long-scenarios
long-scenarios: dev
	@$(EACH_PROFILE); for scenario in $(SCENARIOS); do echo "==> scenario $$scenario"; \
	    MOLECULE_EPHEMERAL_DIRECTORY="$(CURDIR)/$(BUILD)/molecule/$$scenario" molecule test -s $$scenario \
	    > "$(BUILD)/molecule.log" 2>&1 || { cat "$(BUILD)/molecule.log"; failed+=" $$scenario/$$profile"; }; \
	done; $(LAST_WORD)

.PHONY: long-demos
long-demos: install
	@$(EACH_PROFILE); $(MAKE) demo || failed+=" demo/$$profile"; $(LAST_WORD)

.PHONY: test-faults
test-faults: dev ## every scenario, every call it makes, every fault: half an hour or so (SHARE=0.1 for a tenth)
	@python -m faults.matrix --share $(or $(SHARE),1) --profile $(or $(PROFILE),plain)

# CHAOS_PROFILES=pairwise lets the runs take turns through all values of the gap points.
CHAOS_PROFILES ?= plain

.PHONY: test-chaos
test-chaos: dev ## random plays with a fault at every fifth call (RUNS=10000 SEED=1); one broken off goes on
	@python -m faults.chaos --runs $(or $(RUNS),10000) --seed $(or $(SEED),1) --profiles $(CHAOS_PROFILES) \
	    --log $(BUILD)/chaos.jsonl

# The turns are shared among virtual environments: CORES="--core .venv --core ../venv-of-the-newest-core".
.PHONY: test-attacks
test-attacks: dev ## everything over a platform and servers whose every text is an attack (ATTACKS="--story sleep --turns 3")
	@python -m attacks.run $(CORES) $(ATTACKS)
	$(if $(ATTACKS),,pytest -q -n 2 tests/integration/test_databases_hostile.py) # real servers, full of hostile texts

# BILLED_PROFILES=pairwise:1-20 for other platforms; each gets all of the plays.
BILLED_PROFILES ?= plain

.PHONY: test-billed
test-billed: dev ## is what callback `cost` announces billed? Random plays over 30 days (RUNS=200 SEED=1)
	@python -m money.billed --runs $(or $(RUNS),200) --seed $(or $(SEED),1) --profiles $(BILLED_PROFILES)

# PROFILE=pairwise lets the plays take turns through all values of the gap points.
.PHONY: test-budget
test-budget: dev ## random plays under a budget (RUNS=10000 SEED=1 PROFILE=plain); one broken off goes on
	@python -m money.budget --runs $(or $(RUNS),10000) --seed $(or $(SEED),1) --profiles $(or $(PROFILE),plain) \
	    --log $(BUILD)/budget.jsonl

.PHONY: affected
affected: dev ## the tests that concern what changed since main (BASE=..., LIST=1 to see them, RECORD=1 once)
	@python -m ansible_collections.hosted.services.scripts.affected --base $(or $(BASE),main) $(if $(RECORD),--record) $(if $(LIST),--list)

.PHONY: load
load: dev ## 10,000 requests from 16 clients at once, and a look for losses
	@python -m hosted_sandbox.load

.PHONY: sanity
sanity: dev ## ansible-test sanity, in a copy of the working tree
	python scripts/sanity.py

# For one of them: make test-matrix ONLY=2.21-py3.13 STAGES=unit
.PHONY: test-matrix
test-matrix: dev ## unit, integration and sanity on each ansible-core and Python, and with the oldest libraries
	@python scripts/matrix.py $(if $(ONLY),--only $(ONLY)) $(if $(STAGES),--stages $(STAGES))

.PHONY: build
build: install ## build the tarball, install it elsewhere, and check it as Galaxy would
	python scripts/galaxy.py $(BUILD)/dist/*.tar.gz

.PHONY: release
release: dev ## make and check tarball and wheel of VERSION=x.y.z; nothing is tagged or published
	@python scripts/release.py $(VERSION) $(if $(WRITE),--write)

.PHONY: addresses
addresses: dev ## copy the repository's address from galaxy.yml to where it belongs
	@python scripts/addresses.py

.PHONY: ee
ee: install ## build the context of an execution environment, and run the quickstart with ansible-runner
	@python scripts/execution_environment.py $(BUILD)/dist/*.tar.gz

# --- the environment and the tarball -----------------------------------------------------------------------

# Named after what it was built from: a changed pin builds again, a changed time stamp does not.
STAMP := $(VENV)/.installed-$(shell cksum < tests/requirements.txt | cut -d ' ' -f 1)
LINK := $(BUILD)/dev/$(COLLECTION)

.PHONY: dev
dev: $(STAMP) $(LINK) ## build .venv and the folder that the tests import from

$(STAMP):
	@# What a link leads to may be in use elsewhere; `venv --clear` would empty it and fail then.
	@test ! -L $(VENV) || { echo "$(VENV) is a link, and what it leads to was built from other requirements."; \
	    echo "Run 'make dev' in the working tree that it belongs to, or remove the link."; exit 1; } >&2
	@echo "Installing the pinned requirements into $(VENV) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=...")'
	@# Debian's Python has no ensurepip unless python3-venv is installed; the pip that is there does as well.
	@$(PYTHON) -m venv $(VENV) > /dev/null 2>&1 || { \
	    $(PYTHON) -m venv --clear --without-pip $(VENV); \
	    $(PYTHON) -m pip --python $(VENV)/bin/python install -q --disable-pip-version-check pip; \
	}
	@$(PIP_INSTALL) --require-hashes -r tests/requirements.txt
	@rm -f $(VENV)/.installed-*
	@touch $@

$(LINK):
	@mkdir -p $(@D)
	@ln -s ../../../.. $@

$(PEERS_STAMP):
	@echo "Installing the peers into $(PEERS) ..."
	@$(VENV)/bin/python -m venv --clear --without-pip $(PEERS)
	@python -m pip --python $(PEERS)/bin/python install -q --disable-pip-version-check --require-hashes -r $(PEERS_LIST)
	@touch $@

$(SLICES_STAMP):
	@echo "Installing ansible-runner into $(SLICES) ..."
	@$(VENV)/bin/python -m venv --clear --without-pip $(SLICES)
	@python -m pip --python $(SLICES)/bin/python install -q --disable-pip-version-check --require-hashes -r $(SLICES_LIST)
	@touch $@

.PHONY: install
install: dev ## build the tarball in .build/dist, and install it in .build/installed
	@rm -rf $(BUILD)/dist $(BUILD)/installed
	@python scripts/build.py $(BUILD)/dist
	@# Told of no other folder, so that it does not find the working tree and say that nothing is to be done.
	@PYTHONPATH= ANSIBLE_COLLECTIONS_PATH="$(CURDIR)/$(BUILD)/installed" \
	    ansible-galaxy collection install --offline $(BUILD)/dist/*.tar.gz -p $(BUILD)/installed

.PHONY: packages
packages: ## install the Debian packages that some tests compare with (as root)
	@scripts/packages.sh

.PHONY: docs
docs: dev ## render the reference and the guides into site/
	@scripts/docs.sh

# Each NAME.in gives a NAME.txt with every library that it takes, and the hashes of all of its files.
PINNED := tests/requirements docs/requirements tests/integration/rulebook tests/benchmarks/peers \
    tests/benchmarks/slices
RENEWED ?= --upgrade

.PHONY: pins
pins: ## renew the pins; RENEWED= keeps the versions, RENEWED="--upgrade-package NAME" all others
	@rm -rf $(BUILD)/pins
	@$(PYTHON) -m venv $(BUILD)/pins
	@$(BUILD)/pins/bin/$(PIP_INSTALL) uv
	@for list in $(PINNED); do \
	    if [ "$$list" = tests/requirements ]; then same=; else same='--constraints tests/requirements.txt'; fi; \
	    $(BUILD)/pins/bin/uv pip compile -q --generate-hashes --no-annotate --custom-compile-command 'make pins' \
	        $(RENEWED) $$same $$list.in -o $$list.txt; \
	done

.PHONY: clean
clean: ## remove everything that was built
	rm -rf $(VENV) $(BUILD)
