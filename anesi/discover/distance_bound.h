// How far a machine can be from c, at most.
//
// Where a machine and c give the same output on every world but some, then for every belief P the distance between what
// exact inference on the machine says and p(y|P) is at most the probability, under P, of those: TV(q(.|P), p(.|P)) <=
// Pr over w ~ P of [machine(w) != c(w)]. That is a share, so draws bound it, whatever c is.
#pragma once

#include <cstdint>
#include <string>

namespace anesi {

struct DistanceBound {
  std::int64_t draws = 0, differing = 0;  // worlds, drawn after the machine last changed, their number fixed beforehand
  double level = 0.95;                    // how surely the bound holds
  double bound = 1;                       // on the distance in total variation, over the beliefs drawn from
  std::string beliefs;                    // which those are, for people
};

// The upper end of the one-sided confidence interval (Clopper and Pearson, 1934) of a share of which `differing` out of
// `draws` were seen: about 3 / draws where none was, at a level of 0.95.
double upper_bound_of_share(std::int64_t differing, std::int64_t draws, double level = 0.95);

}  // namespace anesi
