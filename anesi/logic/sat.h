// Is a formula satisfiable, under assumptions? By CaDiCaL.
#pragma once

#include <memory>
#include <vector>

namespace anesi {

// Solvers of one formula. One is lent for as long as a question takes, so that several threads may ask at once.
class SatSolvers {
 public:
  // Throws Error where anesi was built without CaDiCaL.
  explicit SatSolvers(std::vector<std::vector<int>> clauses);
  ~SatSolvers();
  SatSolvers(SatSolvers&&) noexcept;
  SatSolvers& operator=(SatSolvers&&) noexcept;

  // Whether some model makes all of these literals true, and one more where it is not 0.
  bool satisfiable(const std::vector<int>& assumptions = {}, int one_more = 0) const;
  // Such a model: whether each variable from 1 to `variables` is true in it (entry 0 unused). Empty where there is
  // none.
  std::vector<bool> model(const std::vector<int>& assumptions, int variables) const;

 private:
  class Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace anesi
