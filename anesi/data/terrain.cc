#include "anesi/data/terrain.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "anesi/core/random.h"
#include "anesi/core/thread_pool.h"

namespace anesi {
namespace {

// Added to a terrain's field everywhere, so that on average terrains take the shares of the published maps: .27, .41,
// .09, .09, .14 (found by trial; a test measures them).
constexpr std::array<double, kTerrains> kAbundance{0.321, 0.615, -0.412, -0.397, -0.127};
constexpr double kUnevenness = 0.5;  // deviation, from map to map, of what is added to a field
constexpr double kBlob = 4;          // cells

// A smooth random function of two coordinates: random numbers at the corners of a lattice, blended between them.
class Noise {
 public:
  // For coordinates from 0 to `extent`, corners of the lattice `period` apart.
  Noise(double extent, double period, Random& random)
      : period_(period),
        row_shift_(random.uniform(0, 1)),
        column_shift_(random.uniform(0, 1)),
        corners_(static_cast<std::size_t>(std::ceil(extent / period)) + 2),
        values_(corners_ * corners_) {
    for (auto& value : values_) value = static_cast<float>(random.normal());
  }

  double at(double row, double column) const {
    const auto y = row / period_ + row_shift_, x = column / period_ + column_shift_;
    const auto top = static_cast<std::size_t>(y), left = static_cast<std::size_t>(x);
    const auto down = eased(y - static_cast<double>(top)), right = eased(x - static_cast<double>(left));
    const float* const here = values_.data() + top * corners_ + left;
    const float* const below = here + corners_;
    return (here[0] * (1 - right) + here[1] * right) * (1 - down) + (below[0] * (1 - right) + below[1] * right) * down;
  }

 private:
  static double eased(double share) { return share * share * (3 - 2 * share); }

  double period_, row_shift_, column_shift_;
  std::size_t corners_;
  std::vector<float> values_;
};

void grow_map(std::uint8_t* terrain, std::int64_t side, Random random) {
  const auto cells = static_cast<std::size_t>(side * side);
  std::vector<double> highest(cells, -1e9);
  for (std::int64_t kind = 0; kind < kTerrains; ++kind) {
    const auto abundance = kAbundance[static_cast<std::size_t>(kind)] + kUnevenness * random.normal();
    const Noise coarse(static_cast<double>(side), kBlob, random), fine(static_cast<double>(side), kBlob / 2, random);
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const auto above = cell / static_cast<std::size_t>(side);
      const auto row = static_cast<double>(above) + 0.5;
      const auto column = static_cast<double>(cell % static_cast<std::size_t>(side)) + 0.5;
      const auto height = abundance + coarse.at(row, column) + 0.5 * fine.at(row, column);
      if (height <= highest[cell]) continue;
      highest[cell] = height;
      terrain[cell] = static_cast<std::uint8_t>(kind);
    }
  }
}

using Colour = std::array<float, 3>;

// A few textures of each terrain, a tile each.
class Textures {
 public:
  static constexpr std::size_t kVariants = 6;

  Textures() : colours_(static_cast<std::size_t>(kTerrains) * kVariants * kTilePixels * kTilePixels) {
    Random random(7);
    for (std::int64_t terrain = 0; terrain < kTerrains; ++terrain) {
      for (std::size_t variant = 0; variant < kVariants; ++variant) draw(terrain, variant, random);
    }
  }

  const Colour& at(std::int64_t terrain, std::size_t variant, std::int64_t row, std::int64_t column) const {
    return colours_[index(terrain, variant, row, column)];
  }

 private:
  static std::size_t index(std::int64_t terrain, std::size_t variant, std::int64_t row, std::int64_t column) {
    const auto tile = static_cast<std::size_t>(terrain) * kVariants + variant;
    return (tile * kTilePixels + static_cast<std::size_t>(row)) * kTilePixels + static_cast<std::size_t>(column);
  }

  void draw(std::int64_t terrain, std::size_t variant, Random& random) {
    static constexpr std::array<Colour, kTerrains> kDark{
        {{38, 84, 20}, {104, 70, 36}, {10, 40, 14}, {16, 44, 108}, {70, 66, 64}}};
    static constexpr std::array<Colour, kTerrains> kLight{
        {{66, 118, 36}, {142, 102, 60}, {36, 88, 30}, {44, 88, 160}, {150, 146, 138}}};
    const Noise shade(kTilePixels, terrain == 2 || terrain == 4 ? 2.5 : 4, random);
    const auto phase = random.uniform(0, 6.28);
    for (std::int64_t row = 0; row < kTilePixels; ++row) {
      for (std::int64_t column = 0; column < kTilePixels; ++column) {
        const auto y = static_cast<double>(row), x = static_cast<double>(column);
        auto light = 0.5 + 0.25 * shade.at(y, x) + 0.10 * random.normal();
        if (terrain == 0 && random.below(9) == 0) light += 0.5;   // blades
        if (terrain == 1 && random.below(12) == 0) light -= 0.5;  // pebbles
        if (terrain == 3) light = 0.5 + 0.4 * std::sin(1.6 * y + 0.7 * std::sin(x) + phase) + 0.08 * random.normal();
        light = std::clamp(light, 0.0, 1.0);
        auto& colour = colours_[index(terrain, variant, row, column)];
        for (std::size_t channel = 0; channel < 3; ++channel) {
          const auto dark = kDark[static_cast<std::size_t>(terrain)][channel];
          colour[channel] =
              dark + static_cast<float>(light) * (kLight[static_cast<std::size_t>(terrain)][channel] - dark);
        }
      }
    }
  }

  std::vector<Colour> colours_;
};

void paint_map(std::uint8_t* picture, const std::uint8_t* terrain, std::int64_t side, Random random) {
  static const Textures textures;
  constexpr double kWinding = 0.12, kWindingPeriod = 5;  // of a cell; pixels
  constexpr float kBlended = 0.15F;                      // below this lead, two terrains are mixed
  const auto pixels = side * kTilePixels;
  const Noise down(static_cast<double>(pixels), kWindingPeriod, random);
  const Noise right(static_cast<double>(pixels), kWindingPeriod, random);
  std::vector<std::size_t> variants(static_cast<std::size_t>(side * side));
  for (auto& variant : variants) variant = random.below(Textures::kVariants);
  const auto last = static_cast<double>(side - 1);
  for (std::int64_t row = 0; row < pixels; ++row) {
    for (std::int64_t column = 0; column < pixels; ++column) {
      const auto y = static_cast<double>(row), x = static_cast<double>(column);
      // Where the pixel lies among the centres of the cells, which are at whole numbers.
      const auto v = std::clamp((y + 0.5) / kTilePixels - 0.5 + kWinding * down.at(y, x), 0.0, last);
      const auto u = std::clamp((x + 0.5) / kTilePixels - 0.5 + kWinding * right.at(y, x), 0.0, last);
      const auto top = static_cast<std::int64_t>(v), left = static_cast<std::int64_t>(u);
      const auto fall = static_cast<float>(v - static_cast<double>(top));
      const auto shift = static_cast<float>(u - static_cast<double>(left));
      const auto below = std::min(top + 1, side - 1), beside = std::min(left + 1, side - 1);
      std::array<float, kTerrains> weights{};
      weights[terrain[top * side + left]] += (1 - fall) * (1 - shift);
      weights[terrain[top * side + beside]] += (1 - fall) * shift;
      weights[terrain[below * side + left]] += fall * (1 - shift);
      weights[terrain[below * side + beside]] += fall * shift;
      std::int64_t first = 0, second = 1;
      if (weights[1] > weights[0]) std::swap(first, second);
      for (std::int64_t kind = 2; kind < kTerrains; ++kind) {
        const auto weight = weights[static_cast<std::size_t>(kind)];
        if (weight > weights[static_cast<std::size_t>(first)]) {
          second = first;
          first = kind;
        } else if (weight > weights[static_cast<std::size_t>(second)]) {
          second = kind;
        }
      }
      const auto lead = weights[static_cast<std::size_t>(first)] - weights[static_cast<std::size_t>(second)];
      const auto mixed = lead < kBlended ? 0.5F * (1 - lead / kBlended) : 0.0F;
      const auto variant = variants[static_cast<std::size_t>(row / kTilePixels * side + column / kTilePixels)];
      const auto& one = textures.at(first, variant, row % kTilePixels, column % kTilePixels);
      const auto& other = textures.at(second, variant, row % kTilePixels, column % kTilePixels);
      for (std::size_t channel = 0; channel < 3; ++channel) {
        *picture++ = static_cast<std::uint8_t>(one[channel] + mixed * (other[channel] - one[channel]));
      }
    }
  }
}

// Each map has its own numbers, so that it does not matter which thread draws it.
Random stream_of_map(std::uint64_t seed, std::int64_t map) {
  return Random(Random(Random(seed).next() ^ static_cast<std::uint64_t>(map)).next());
}

}  // namespace

Array grow_terrain(std::int64_t count, std::int64_t side, std::uint64_t seed) {
  Array terrain(NumberType::kUInt8, {count, side, side});
  auto* const out = terrain.values<std::uint8_t>().data();
  parallel_for(count, 64, [&](std::int64_t begin, std::int64_t end) {
    for (auto map = begin; map < end; ++map) grow_map(out + map * side * side, side, stream_of_map(seed, map));
  });
  return terrain;
}

Array paint_terrain(const Array& terrain, std::uint64_t seed, std::int64_t first) {
  const auto count = terrain.shape()[0], side = terrain.shape()[1], pixels = side * kTilePixels;
  Array pictures(NumberType::kUInt8, {count, pixels, pixels, 3});
  const auto* const in = terrain.values<std::uint8_t>().data();
  auto* const out = pictures.values<std::uint8_t>().data();
  parallel_for(count, 8, [&](std::int64_t begin, std::int64_t end) {
    for (auto map = begin; map < end; ++map) {
      // Not the numbers that the terrain was grown from.
      paint_map(out + map * pixels * pixels * 3, in + map * side * side, side, stream_of_map(~seed, first + map));
    }
  });
  return pictures;
}

}  // namespace anesi
