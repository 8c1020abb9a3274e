// What priors of all variables together buy over one Dirichlet a variable, where beliefs depend on each other.
#pragma once

namespace anesi::cli {

// Trains light-curtain with each prior from a few seeds; prints a table or JSON.
void bench_priors(bool json);

}  // namespace anesi::cli
