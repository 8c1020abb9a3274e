# A short way to the usual commands; CMake does the work. `make help` lists them.
# ARGS go to the program or to ctest:  make run ARGS="--seed 3"   make test ARGS="-R cli"

SHELL := bash
.SHELLFLAGS := -o pipefail -c

ARGS ?=
SECONDS_EACH = $(or $(SECONDS),60)
PYTHON := .venv/bin/python
SOURCES = $(shell find anesi examples fuzz python tests -name '*.cc' -o -name '*.h')
NINJA_FLAGS := $(if $(MAKE_TERMOUT),,--quiet)

# The last resort for find_package(Torch): whatever CMAKE_PREFIX_PATH already says comes first.
TORCH = $(PYTHON) -c 'import torch; print(torch.utils.cmake_prefix_path)' 2>/dev/null

.PHONY: build run test test-quick test-torches fuzz-answers torture bench wheels format format-check tidy separate debug asan tsan fuzz fuzzer clean help always
.DEFAULT_GOAL := build

build: build/release/build.ninja  ## build the program, build/release/anesi (the default)
	@cmake --build --preset release --target anesi_program -- $(NINJA_FLAGS)

run: build  ## build, then train MNISTAdd with four digits
	build/release/anesi train mnist-add --set task.digits=4 $(ARGS)

test: build/release/build.ninja  ## build everything and run all tests
	@cmake --build --preset release -- $(NINJA_FLAGS)
	@ctest --preset release -j2 $(ARGS)

test-quick: build/release/build.ninja  ## build everything and run the tests that are not slow: C++, quick Python and program tests (2 minutes)
	@cmake --build --preset release -- $(NINJA_FLAGS)
	@ctest --preset release -j2 -LE slow $(ARGS)

fuzz-answers: build/release/build.ninja  ## compare answers with brute force on the random problems of ten other seeds (ARGS="--seed 10")
	@cmake --build --preset release -- $(NINJA_FLAGS)
	@for seed in 1 2 3 4 5 6 7 8 9 10; do for test in exact losses; do OMP_NUM_THREADS=1 ANESI_TEST_SEED=$$RANDOM \
	  build/release/tests/anesi_$${test}_tests --gtest_brief=1 --gtest_filter=Backends*:Labels*:Answers* || exit 1; done; done
	@OMP_NUM_THREADS=1 PYTHONPATH=build/release/python $(PYTHON) tests/python/oracle_test.py --seeds 10 $(ARGS)

torture: build  ## faults of files and memory, kills and full disks by the hundred: nothing may be lost (half an hour)
	@cmake --build --preset release --target anesi_faults -- $(NINJA_FLAGS)
	@$(PYTHON) tests/faults/torture.py build/release/anesi build/release/tests/libanesi_faults.so $(ARGS)

bench: build  ## time the program against plain PyTorch
	build/release/anesi bench --reference bench/pytorch_reference.py --python $(PYTHON) $(ARGS)

wheels:  ## build the Python wheels into wheels/, for every Python found from 3.10 on, and check each in a fresh environment
	@scripts/wheels

test-torches:  ## run the Python tests on a wheel of wheels/ with the oldest and the newest torch (gigabytes; or ARGS="2.9.1 2.13.0")
	@scripts/test_torches $(ARGS)

debug: build/debug/build.ninja  ## build everything with assertions into build/debug
	@cmake --build --preset debug -- $(NINJA_FLAGS)

asan: build/asan/build.ninja  ## run the quick tests under the address and undefined-behaviour sanitizers
	@cmake --build --preset asan -- $(NINJA_FLAGS)
	@ctest --preset asan -j2 -LE slow $(ARGS)

tsan: build/tsan/build.ninja  ## run the quick tests under the thread sanitizer
	@cmake --build --preset tsan -- $(NINJA_FLAGS)
	@ctest --preset tsan -j2 -LE slow $(ARGS)

fuzz: fuzzer build/fuzz/build.ninja  ## let clang's libFuzzer damage files for each reader, SECONDS=60 each, or TARGETS="idx npy"
	@cmake --build --preset fuzz -- $(NINJA_FLAGS)
	@scripts/fuzz build/fuzz $(SECONDS_EACH) $(TARGETS)

fuzzer:
	@scripts/setup fuzzer

format:  ## lay out the sources with clang-format
	@clang-format -i $(SOURCES)

format-check:  ## fail where clang-format would change something
	@clang-format --dry-run -Werror $(SOURCES)

tidy: build/tidy/build.ninja  ## run clang-tidy on every source (a folder at a time), or on FILES="a.cc b.cc"
	@printf '%s\n' $(or $(FILES),$$(find build/tidy -name '*_cxx.cxx') examples/*.cc) \
	  | xargs -P $$(nproc) -n 1 clang-tidy --quiet -p build/tidy --extra-arg=-Wno-everything \
	      --checks=-bugprone-suspicious-include 2>&1 \
	  | { grep -v 'warnings\? generated\.$$' || true; }

separate: build/separate/build.ninja  ## compile every source by itself, so that missing includes show (slow)
	@scripts/separate build/separate

clean:  ## remove what was built; .venv stays
	rm -rf build

help:  ## this list
	@sed -n -E 's/^([a-z-]+):.*  ## (.*)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

# Configuring is quiet unless it fails. Ninja configures again by itself when a CMakeLists.txt changes.
build/%/build.ninja: CMakePresets.json .venv/requirements.stamp
	@mkdir -p $(@D)
	@CMAKE_PREFIX_PATH="$$CMAKE_PREFIX_PATH:$$($(TORCH))" cmake --preset $* >$(@D)/configure.log 2>&1 \
	  || { cat $(@D)/configure.log >&2; rm -f $@; exit 1; }
	@touch $@

# Runs every time, takes a tenth of a second, and renews the stamp only when it installed something.
.venv/requirements.stamp: always
	@scripts/setup
