// Circuits that other programs compiled, from the files they write.
//
// | files        | of                                | what is in them                                             |
// |--------------|-----------------------------------|-------------------------------------------------------------|
// | .nnf         | c2d, dSharp, miniC2D              | header `nnf NODES EDGES VARIABLES`; `L`, `A` and `O` lines   |
// | .nnf, .ddnnf | D4                                | no header; nodes `o`, `a`, `t`, `f`, and edges with literals |
// | .sdd, .vtree | libsdd, PySDD, pypsdd             | decisions along a tree of variables                         |
//
// A file is read with care, since any program may have written it: every error is one line that names the file's line,
// memory and time are bounded (a circuit has at most a million variables here, ten million nodes and what
// CircuitBuilder allows), and the depth of a circuit costs no stack. That the parts of products share no variable and
// that a decision follows its tree of variables is checked. That sums are of parts which exclude each other is
// tested: see check_deterministic.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "anesi/logic/circuit.h"

namespace anesi {

// What c2d or D4 wrote; the content tells which. A circuit is over as many variables as c2d's header says, or as the
// largest that is named in D4's file. `variables`, where it is more than 0, says that there are more.
Circuit read_nnf(const std::filesystem::path& path, int variables = 0);
Circuit parse_nnf(std::string_view text, const std::string& name, int variables = 0);

// What libsdd wrote: the last node of `sdd`, over the variables of `vtree`. With one path, that of the tree is the same
// with the ending .vtree.
Circuit read_sdd(const std::filesystem::path& sdd, const std::filesystem::path& vtree);
Circuit read_sdd(const std::filesystem::path& sdd);
Circuit parse_sdd(std::string_view sdd, const std::string& sdd_name, std::string_view vtree,
                  const std::string& vtree_name);

// The circuit in c2d's format, smooth as it is. Variables that sums decide on are not told.
std::string to_nnf(const Circuit& circuit);

// Throws Error "name: …" where two parts of a sum are found to be true at once: such models would be counted twice.
//
// Whether there is any such model is a hard question (as hard as satisfiability), so 256 assignments are tried on all
// sums at once: 192 models drawn as the circuit counts them, and 64 that go through sums drawn at random. An error is
// a proof. No error is none: counts that are wrong by more than a few per cent are found nearly always (one model in
// fifty being counted twice stays unseen in one file of fifty), but a rare pair of parts that both hold in a model
// that is not drawn stays unseen.
void check_deterministic(const Circuit& circuit, std::uint64_t seed, std::string_view name);

}  // namespace anesi
