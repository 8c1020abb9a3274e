#include "anesi/models/soft_min_sweeps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "anesi/core/error.h"
#include "anesi/core/grid_walk.h"
#include "anesi/core/thread_pool.h"
#include "anesi/core/vectorized.h"

namespace anesi {
namespace {

constexpr std::int64_t kLanes = 16;
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));
using Bits = std::int32_t __attribute__((vector_size(kLanes * sizeof(float))));

// exp(x) for x <= 0, to 2 units in the last place; 0 below -87. (Vectors are given back through an argument: how they
// are returned depends on the instruction set.)
[[gnu::always_inline]] inline void exp_of(const Lanes& x, Lanes& exponential) {
  constexpr float kRound = 12582912;  // 1.5 * 2^23: added and taken away, it leaves a whole number
  const Lanes floor = Lanes{} - 87;
  const Lanes clamped = x > floor ? x : floor;
  const Lanes shifted = clamped * 1.44269504F + kRound;
  const Lanes whole = shifted - kRound;
  const Lanes rest = clamped - whole * 0.693359375F + whole * 2.12194440e-4F;
  Lanes sum = rest * 1.9875691500e-4F + 1.3981999507e-3F;
  sum = sum * rest + 8.3334519073e-3F;
  sum = sum * rest + 4.1665795894e-2F;
  sum = sum * rest + 1.6666665459e-1F;
  sum = sum * rest + 5.0000001201e-1F;
  sum = sum * rest * rest + rest + 1;
  const Bits power = reinterpret_cast<Bits>(shifted) << 23;
  const Bits scaled = reinterpret_cast<Bits>(sum) + power;
  const Lanes result = reinterpret_cast<Lanes>(scaled);
  exponential = x > floor ? result : Lanes{};
}

// log(x) for x from 1 to 8 (and any positive normal number).
[[gnu::always_inline]] inline void log_of(const Lanes& x, Lanes& logarithm) {
  const Bits bits = reinterpret_cast<Bits>(x);
  // x = 2^exponent * mantissa, the mantissa from sqrt(1/2) to sqrt(2).
  const Bits shifted = bits - 0x3f3504f3;
  const Bits exponent = shifted >> 23;
  const Bits mantissa_bits = bits - (exponent << 23);
  const Lanes f = reinterpret_cast<Lanes>(mantissa_bits) - 1;
  const Lanes z = f * f;
  Lanes sum = f * 7.0376836292e-2F - 1.1514610310e-1F;
  sum = sum * f + 1.1676998740e-1F;
  sum = sum * f - 1.2420140846e-1F;
  sum = sum * f + 1.4249322787e-1F;
  sum = sum * f - 1.6668057665e-1F;
  sum = sum * f + 2.0000714765e-1F;
  sum = sum * f - 2.4999993993e-1F;
  sum = sum * f + 3.3333331174e-1F;
  const Lanes whole = __builtin_convertvector(exponent, Lanes);
  logarithm = f * z * sum + whole * -2.12194440e-4F - 0.5F * z + f + whole * 0.693359375F;
}

// A frame of cells that are never reached stands around the grid, so that every cell has eight around it.
constexpr float kUnreachable = 1e5F;

struct Shape {
  std::int64_t side, sweeps;
  std::int64_t framed() const { return (side + 2) * (side + 2); }
  std::int64_t place(std::int64_t cell) const { return (cell / side + 1) * (side + 2) + cell % side + 1; }
  std::array<std::int64_t, kDirections> around() const {
    std::array<std::int64_t, kDirections> offsets{};
    for (std::size_t direction = 0; direction < offsets.size(); ++direction) {
      offsets[direction] = GridWalk::kOffsets[direction][0] * (side + 2) + GridWalk::kOffsets[direction][1];
    }
    return offsets;
  }
};

// What sixteen maps need and leave behind, each a vector a cell.
struct Chunk {
  const Lanes* costs;         // [cells]
  const Lanes* passable;      // [cells]: 0 at the goal, 1 elsewhere
  const Lanes* temperatures;  // one
  Lanes* values;              // [sweeps + 1, framed]
};

ANESI_VECTORIZED void sweep_forward(const Chunk& chunk, const Shape& shape) {
  const auto around = shape.around();
  const auto framed = shape.framed(), side = shape.side;
  const Lanes temperature = *chunk.temperatures, inverse = 1 / temperature;
  for (std::int64_t place = 0; place < framed; ++place) chunk.values[place] = Lanes{} + kUnreachable;
  for (std::int64_t cell = 0; cell < side * side; ++cell) {
    chunk.values[shape.place(cell)] = chunk.passable[cell] * kFar;
  }
  for (std::int64_t sweep = 0; sweep < shape.sweeps; ++sweep) {
    const Lanes* const before = chunk.values + sweep * framed;
    Lanes* const after = chunk.values + (sweep + 1) * framed;
    std::memcpy(static_cast<void*>(after), before, static_cast<std::size_t>(framed) * sizeof(Lanes));
    for (std::int64_t row = 0, cell = 0; row < side; ++row) {
      for (std::int64_t column = 0; column < side; ++column, ++cell) {
        const Lanes* const here = before + (row + 1) * (side + 2) + column + 1;
        Lanes least = here[around[0]];
        for (std::size_t d = 1; d < around.size(); ++d) least = here[around[d]] < least ? here[around[d]] : least;
        Lanes sum{};
        for (const auto offset : around) {
          Lanes share;
          exp_of((least - here[offset]) * inverse, share);
          sum += share;
        }
        Lanes log_sum;
        log_of(sum, log_sum);
        after[here - before] = chunk.passable[cell] * (chunk.costs[cell] + least - temperature * log_sum);
      }
    }
  }
}

// `gradient`, [framed], comes in as that of the last values and is used up; `spare`, [framed], is room to work in. Adds
// to the gradients of the costs, [cells], and of the temperatures, one.
ANESI_VECTORIZED void sweep_backward(const Chunk& chunk, const Shape& shape, Lanes* gradient, Lanes* spare,
                                     Lanes* costs_gradient, Lanes* temperatures_gradient) {
  const auto around = shape.around();
  const auto framed = shape.framed(), side = shape.side;
  const Lanes inverse = 1 / *chunk.temperatures;
  Lanes of_temperature{};
  for (auto sweep = shape.sweeps - 1; sweep >= 0; --sweep) {
    const Lanes* const before = chunk.values + sweep * framed;
    std::memset(static_cast<void*>(spare), 0, static_cast<std::size_t>(framed) * sizeof(Lanes));
    for (std::int64_t row = 0, cell = 0; row < side; ++row) {
      for (std::int64_t column = 0; column < side; ++column, ++cell) {
        const auto place = (row + 1) * (side + 2) + column + 1;
        const Lanes flowing = gradient[place] * chunk.passable[cell];
        const Bits moved = flowing != Lanes{};
        bool any = false;
        for (std::int64_t lane = 0; lane < kLanes; ++lane) any |= moved[lane] != 0;
        if (!any) continue;
        const Lanes* const here = before + place;
        Lanes least = here[around[0]];
        for (std::size_t d = 1; d < around.size(); ++d) least = here[around[d]] < least ? here[around[d]] : least;
        std::array<Lanes, kDirections> weights;
        Lanes sum{};
        for (std::size_t d = 0; d < around.size(); ++d) {
          exp_of((least - here[around[d]]) * inverse, weights[d]);
          sum += weights[d];
        }
        costs_gradient[cell] += flowing;
        const Lanes share = flowing / sum;
        Lanes spread{};
        for (std::size_t d = 0; d < around.size(); ++d) {
          const Lanes weight = weights[d] * share;
          spare[place + around[d]] += weight;
          spread += weight * (least - here[around[d]]);
        }
        Lanes log_sum;
        log_of(sum, log_sum);
        of_temperature += spread * inverse - flowing * log_sum;
      }
    }
    std::swap(gradient, spare);
  }
  *temperatures_gradient += of_temperature;
}

// Maps [maps of all rows, numbers of a map] as [chunks, numbers of a map, lanes]; the last chunk is filled up with
// copies of the last map.
torch::Tensor to_lanes(const torch::Tensor& maps) {
  const auto count = maps.size(0), chunks = (count + kLanes - 1) / kLanes;
  const auto rows = torch::arange(chunks * kLanes).clamp_max(count - 1);
  return maps.index_select(0, rows).view({chunks, kLanes, -1}).transpose(1, 2).contiguous();
}

torch::Tensor from_lanes(const torch::Tensor& lanes, std::int64_t count) {
  return lanes.transpose(1, 2).reshape({lanes.size(0) * kLanes, -1}).slice(0, 0, count);
}

Lanes* vectors(const torch::Tensor& tensor) { return reinterpret_cast<Lanes*>(tensor.data_ptr<float>()); }

class SoftMinSweeps : public torch::autograd::Function<SoftMinSweeps> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& costs,
                               const torch::Tensor& temperatures, const torch::Tensor& goals, std::int64_t sweeps) {
    const auto batch = costs.size(0), maps = costs.size(1), side = costs.size(2), cells = side * side;
    const Shape shape{side, sweeps};
    const auto costs_in_lanes = to_lanes(costs.reshape({batch * maps, cells}).to(torch::kCPU, torch::kFloat32));
    const auto temperatures_in_lanes =
        to_lanes(temperatures.to(torch::kCPU, torch::kFloat32).repeat({batch}).unsqueeze(1));
    const auto passable = to_lanes(
        torch::ones({batch, cells}).scatter_(1, goals.to(torch::kCPU).unsqueeze(1), 0).repeat_interleave(maps, 0));
    const auto chunks = costs_in_lanes.size(0), framed = shape.framed();
    // Lanes are 64 bytes, as is what torch aligns its memory to.
    const auto values = torch::empty({chunks, (sweeps + 1) * framed, kLanes});
    parallel_for(chunks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto chunk = begin; chunk < end; ++chunk) {
        sweep_forward({vectors(costs_in_lanes) + chunk * cells, vectors(passable) + chunk * cells,
                       vectors(temperatures_in_lanes) + chunk, vectors(values) + chunk * (sweeps + 1) * framed},
                      shape);
      }
    });
    context->save_for_backward({costs_in_lanes, passable, temperatures_in_lanes, values});
    context->saved_data["sizes"] = std::vector<std::int64_t>{batch, maps, side, sweeps};
    const auto last = from_lanes(values.slice(1, sweeps * framed), batch * maps);
    return last.view({batch, maps, side + 2, side + 2})
        .slice(2, 1, side + 1)
        .slice(3, 1, side + 1)
        .contiguous()
        .to(costs.options());
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto sizes = context->saved_data["sizes"].toIntVector();
    const auto batch = sizes[0], maps = sizes[1], side = sizes[2], sweeps = sizes[3], cells = side * side;
    const Shape shape{side, sweeps};
    const auto chunks = saved[0].size(0), framed = shape.framed(), count = batch * maps;
    const auto framed_gradient = torch::constant_pad_nd(gradients[0].to(torch::kCPU, torch::kFloat32),
                                                        {1, 1, 1, 1, 0, 0, 0, 0});  // [batch, maps, side + 2, side + 2]
    // Copies of the last map that fill up the last chunk have no gradient.
    const auto filled =
        torch::constant_pad_nd(framed_gradient.reshape({count, framed}), {0, 0, 0, chunks * kLanes - count});
    const auto flowing = to_lanes(filled), spare = torch::empty_like(flowing);
    const auto costs_gradient = torch::zeros_like(saved[0]), temperatures_gradient = torch::zeros_like(saved[2]);
    parallel_for(chunks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto chunk = begin; chunk < end; ++chunk) {
        sweep_backward({vectors(saved[0]) + chunk * cells, vectors(saved[1]) + chunk * cells, vectors(saved[2]) + chunk,
                        vectors(saved[3]) + chunk * (sweeps + 1) * framed},
                       shape, vectors(flowing) + chunk * framed, vectors(spare) + chunk * framed,
                       vectors(costs_gradient) + chunk * cells, vectors(temperatures_gradient) + chunk);
      }
    });
    const auto like = gradients[0].options();
    return {from_lanes(costs_gradient, count).view({batch, maps, side, side}).to(like),
            from_lanes(temperatures_gradient, count).view({batch, maps}).sum(0).to(like), torch::Tensor(),
            torch::Tensor()};
  }
};

}  // namespace

torch::Tensor soft_min_sweeps(const torch::Tensor& costs, const torch::Tensor& temperatures, const torch::Tensor& goals,
                              std::int64_t sweeps) {
  if (costs.dim() != 4 || costs.size(2) != costs.size(3)) {
    throw Error(fmt::format("soft_min_sweeps: costs must be [batch, maps, side, side], not [{}]",
                            fmt::join(costs.sizes(), ", ")));
  }
  if (temperatures.dim() != 1 || temperatures.size(0) != costs.size(1)) {
    throw Error(fmt::format("soft_min_sweeps: {} temperatures for {} maps", temperatures.numel(), costs.size(1)));
  }
  if (goals.dim() != 1 || goals.size(0) != costs.size(0)) {
    throw Error(fmt::format("soft_min_sweeps: {} goals for {} rows", goals.numel(), costs.size(0)));
  }
  return SoftMinSweeps::apply(costs, temperatures, goals, sweeps);
}

}  // namespace anesi
