# Everything a newcomer needs; each target says what it does and can be repeated.
# The work is in scripts/.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo test test-long test-lab test-mutations lab check bench measure reproduce release deps truth compare verify

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## Install what is missing, build, record redis under load, print its plan
	@scripts/demo.sh

test: ## Install what the tests need and run them all
	@scripts/test.sh

test-long: ## Record a real PostgreSQL three times; kill shift 100 times in guests; fuzz every reader of what others wrote, minutes each (MINUTES=2)
	@scripts/test-long.sh

test-lab: ## Boot machines with tiers of memory in QEMU and run the tests that need them (resumes)
	@scripts/test-lab.sh

test-mutations: ## Undo what SECURITY.md says is prevented, one mend at a time: the test of its row must fail (resumes; an hour)
	@scripts/mutations.py

lab: ## Install QEMU, fetch a kernel, build pagetide-lab: see docs/lab.md
	@scripts/deps.sh lab
	@cargo build --locked -q -p pagetide-lab
	@echo "try: target/debug/pagetide-lab run -- numactl -H"

check: ## Format, lints, documentation, licences, scripts: what must be clean before a commit
	@scripts/check.sh

bench: ## Run the benchmarks; each compares with something in the same run
	@scripts/bench.sh

measure: ## Measure the figures of docs/measurements.md on this machine (two hours)
	@scripts/measure.sh

truth: ## Real programs counted exactly and sampled in the same run, plans compared (resumes; an hour)
	@scripts/truth.sh

compare: ## Pagetide beside the kernel's own tiering, programs in QEMU guests (resumes; some three hours on two CPUs)
	@scripts/guests.sh compare

verify: ## Plans beside live runs by the meter, programs in QEMU guests (resumes; an hour)
	@scripts/guests.sh verify

reproduce: ## Published figures beside ours into docs/reproduction (resumes); PAPER=amp: of one paper
	@scripts/reproduce.sh $(PAPER)

release: ## Build one static binary that runs on other machines of this architecture
	@scripts/release.sh

deps: ## Only install the packages that building needs
	@scripts/deps.sh build
