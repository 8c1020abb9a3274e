// CPU time of log-probability and gradient by a circuit, on one thread. bench/circuits.py compiles and runs it.
//
//   circuits FILE.sdd LOGITS REPEATS
//
// LOGITS holds doubles [examples, variables]: of each variable being true. Prints one JSON object: milliseconds of each
// repeat, log-probabilities and the sum of their gradients.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <span>

#include "anesi/core/thread_pool.h"
#include "anesi/exact/circuit_backend.h"
#include "anesi/logic/circuit_files.h"
#include "anesi/logic/compiled_formula.h"

namespace {

// The models of a circuit are the worlds whose output is 1.
std::shared_ptr<const anesi::Problem> constraint_of(anesi::Circuit circuit) {
  anesi::Encoding encoding;
  for (int variable = 1; variable <= circuit.variables(); ++variable) encoding.worlds.push_back({-variable, variable});
  const auto worlds = anesi::Space::uniform(circuit.variables(), 2);
  const anesi::CompiledFormula formula{std::move(circuit), encoding};
  auto problem = anesi::make_problem(worlds, {2}, [formula](anesi::Values world, anesi::MutableValues output) {
    output[0] = anesi::satisfies(formula, world) ? 1 : 0;
  });
  return anesi::with(std::move(problem), formula);
}

std::vector<double> read_doubles(const std::filesystem::path& path) {
  std::vector<double> numbers(std::filesystem::file_size(path) / sizeof(double));
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(numbers.data()), static_cast<std::streamsize>(numbers.size() * sizeof(double)));
  return numbers;
}

double milliseconds() {
  std::timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

void print(const char* name, std::span<const double> numbers) {
  std::cout << '"' << name << "\": [";
  for (std::size_t index = 0; index < numbers.size(); ++index) std::cout << (index > 0 ? ", " : "") << numbers[index];
  std::cout << ']';
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::cerr << "circuits FILE.sdd LOGITS REPEATS\n";
    return 2;
  }
  const anesi::ThreadLimit one_thread(1);
  const auto problem = constraint_of(anesi::read_sdd(arguments[1]));
  const auto backend = anesi::make_circuit_backend(*problem);
  const auto logits = read_doubles(arguments[2]);
  const auto variables = problem->worlds().variables(), examples = std::ssize(logits) / variables;
  std::vector<double> logs;
  for (const auto logit : logits) {
    logs.push_back(-std::log1p(std::exp(logit)));
    logs.push_back(-std::log1p(std::exp(-logit)));
  }
  const anesi::Points holds(examples, 1, 1);
  const anesi::Query query{{logs.data(), examples, variables, 2}, holds};
  std::vector<double> log_probs(static_cast<std::size_t>(examples)), gradient(logs.size()), times, sums(logs.size());
  for (int repeat = 0; repeat < std::atoi(arguments[3]); ++repeat) {
    const auto start = milliseconds();
    backend->log_prob(query, log_probs, {gradient.data(), examples, variables, 2});
    times.push_back(milliseconds() - start);
  }
  sums.assign(static_cast<std::size_t>(2 * variables), 0);
  for (std::size_t index = 0; index < gradient.size(); ++index) sums[index % sums.size()] += gradient[index];
  std::cout << std::setprecision(17) << '{';
  print("milliseconds", times);
  std::cout << ", ";
  print("log_probs", log_probs);
  std::cout << ", ";
  print("gradient", sums);
  std::cout << "}\n";
}
