#include "anesi/perception/tabular_mlp.h"

#include <gtest/gtest.h>

#include "anesi/tensors/beliefs.h"

namespace anesi {
namespace {

TEST(TabularMlp, IsCertainOfWhatItIsToldAndOfNothingElse) {
  for (const auto& seen : {Space{2, 2}, Space{3, 2}}) {
    torch::manual_seed(1);
    TabularMlp network(3, seen, {.layers = 1, .width = 4}, {2});
    for (auto parameter : network.parameters()) parameter.set_requires_grad(false).mul_(1e6);
    const auto beliefs = network.forward(torch::tensor({{1.0F, -2.0F, 0.0F}, {-3.0F, 1.0F, 1.0F}}));
    std::vector<std::int64_t> domains{2};
    domains.insert(domains.end(), seen.domains().begin(), seen.domains().end());
    const Space space(domains);
    check_beliefs(beliefs, space);
    EXPECT_TRUE(torch::equal(beliefs.select(1, 0).slice(1, 0, 2), torch::tensor({{1.0F, 0.0F}, {0.0F, 1.0F}})));
    // However sure the network is, no value of a variable that it sees is ruled out.
    const auto possible = uniform_beliefs(2, space).slice(1, 1) > 0;
    EXPECT_TRUE((beliefs.slice(1, 1).masked_select(possible) > 0).all().item<bool>()) << beliefs;
  }
}

}  // namespace
}  // namespace anesi
