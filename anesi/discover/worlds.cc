#include "anesi/discover/worlds.h"

#include <cmath>
#include <map>
#include <random>

#include "anesi/tensors/beliefs.h"

namespace anesi {
namespace {

std::mt19937_64 engine_of(at::Generator generator) {
  const std::scoped_lock lock(generator.mutex());
  return std::mt19937_64(generator.get<at::CPUGeneratorImpl>()->random64());
}

std::int64_t below(std::int64_t size, std::mt19937_64& engine) {
  // A bias of one in 2^63 / size is none.
  return static_cast<std::int64_t>((engine() >> 1U) % static_cast<std::uint64_t>(size));
}

double uniform(std::mt19937_64& engine) { return static_cast<double>(engine() >> 11U) * 0x1p-53; }

}  // namespace

torch::Tensor mixed_worlds(const Space& space, std::int64_t count, const at::Generator& generator) {
  auto engine = engine_of(generator);
  auto worlds = torch::empty({count, space.variables()}, torch::kInt64);
  auto* world = worlds.mutable_data_ptr<std::int64_t>();
  const auto variables = static_cast<std::size_t>(space.variables());
  // Variables whose beliefs may be one: those of a domain.
  std::map<std::int64_t, std::vector<std::size_t>> groups;
  for (std::size_t variable = 0; variable < variables; ++variable)
    groups[space.domains()[variable]].push_back(variable);
  for (std::int64_t row = 0; row < count; ++row, world += variables) {
    if (uniform(engine) < 0.5) {
      for (std::size_t variable = 0; variable < variables; ++variable)
        world[variable] = below(space.domains()[variable], engine);
      continue;
    }
    // One value after another of a belief that was drawn from Dirichlet(a, …, a), with the belief summed out (Pólya's
    // urn): a value that n of m variables have is drawn next with probability (n + a) / (m + a * domain).
    const double concentration = std::pow(10.0, -1.5 + 2.2 * uniform(engine));
    for (const auto& [domain, members] : groups) {
      const double fresh = concentration * static_cast<double>(domain);
      for (std::size_t seen = 0; seen < members.size(); ++seen) {
        const bool repeats = uniform(engine) * (static_cast<double>(seen) + fresh) < static_cast<double>(seen);
        world[members[seen]] =
            repeats ? world[members[static_cast<std::size_t>(below(static_cast<std::int64_t>(seen), engine))]]
                    : below(domain, engine);
      }
    }
  }
  return worlds;
}

DrawWorlds mixed_worlds_of(const Space& space) {
  return [space](std::int64_t count, const at::Generator& generator) { return mixed_worlds(space, count, generator); };
}

DrawWorlds worlds_of_beliefs(torch::Tensor beliefs) {
  return [beliefs = std::move(beliefs)](std::int64_t count, const at::Generator& generator) {
    const auto rows = torch::randint(beliefs.size(0), {count}, generator, torch::kInt64);
    return sample_worlds(beliefs.index_select(0, rows), generator);
  };
}

torch::Tensor uniform_worlds(const Space& space, std::int64_t count, const at::Generator& generator) {
  auto engine = engine_of(generator);
  auto worlds = torch::empty({count, space.variables()}, torch::kInt64);
  auto* value = worlds.mutable_data_ptr<std::int64_t>();
  for (std::int64_t row = 0; row < count; ++row) {
    for (const auto domain : space.domains()) *value++ = below(domain, engine);
  }
  return worlds;
}

torch::Tensor with_another_value(const torch::Tensor& worlds, std::int64_t variable, const Space& space,
                                 const at::Generator& generator) {
  auto changed = worlds.clone();
  const auto domain = space.domain(variable);
  if (domain == 1) return changed;
  const auto shift = torch::randint(1, domain, {worlds.size(0)}, generator, torch::kInt64);
  changed.select(1, variable).add_(shift).remainder_(domain);
  return changed;
}

}  // namespace anesi
