// Circuits from c2d, D4 and libsdd: the two targets share what is asked of a circuit that was read.
#include <cmath>

#include "anesi/logic/circuit_files.h"
#include "fuzz/target.h"

namespace anesi::fuzz {
namespace {

void expect_circuit(const Circuit& circuit) {
  constexpr int kFewVariables = 64;
  for (std::int64_t node = 0; node < circuit.nodes(); ++node) {
    for (const auto part : circuit.parts(node)) expect(part >= 0 && part < node, "parts come before wholes");
  }
  if (circuit.variables() > kFewVariables) return;
  const Circuit::Weights weights(circuit.places(), std::log(0.5));
  const auto count = circuit.log_count(weights);
  expect(!(count > std::log(2.0)), "sums that count models twice, and not just a few, are found");
  const auto again = parse_nnf(to_nnf(circuit), "again.nnf", circuit.variables());
  expect(again.models() == circuit.models(), "what is written is read");
}

}  // namespace

ANESI_FUZZ_TARGET("nnf", [](std::string_view input) { expect_circuit(parse_nnf(input, "rules.nnf")); });

// The tree of variables, a zero byte, the circuit.
ANESI_FUZZ_TARGET("sdd", [](std::string_view input) {
  const auto end = input.find('\0');
  const auto circuit = end == std::string_view::npos ? std::string_view() : input.substr(end + 1);
  expect_circuit(parse_sdd(circuit, "rules.sdd", input.substr(0, end), "rules.vtree"));
});

}  // namespace anesi::fuzz
