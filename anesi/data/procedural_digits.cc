#include "anesi/data/procedural_digits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "anesi/core/random.h"
#include "anesi/core/thread_pool.h"

namespace anesi {
namespace {

constexpr int kSide = 28;          // pixels
constexpr double kDigitSide = 20;  // pixels, the height of an upright digit
constexpr int kPiecesPerKnot = 6;  // straight pieces that stand for the curve between two knots

struct Point {
  double x;
  double y;
};

// A control point, in hundredths of the digit's height: x to the right from 0 to about 70, y downwards from 0 to 100.
// The pen turns smoothly at a knot unless it is a corner.
struct Knot {
  double x;
  double y;
  bool corner = false;
};

using Stroke = std::vector<Knot>;  // from pen down to pen up; closed if it ends where it began
using Style = std::vector<Stroke>;

constexpr bool kCorner = true;

const std::array<std::vector<Style>, 10>& styles_of_digits() {
  static const std::array<std::vector<Style>, 10> styles = {{
      {
          // 0: a closed oval; one whose ends pass each other at the top
          {{{35, 0}, {13, 13}, {3, 48}, {13, 86}, {35, 100}, {57, 86}, {67, 50}, {57, 13}, {35, 0}}},
          {{{50, 6}, {30, 2}, {9, 28}, {4, 62}, {18, 94}, {42, 97}, {63, 70}, {65, 34}, {48, 5}, {34, 11}}},
      },
      {
          // 1: a line; with a flag; with flag and base
          {{{37, 0}, {36, 50}, {34, 100}}},
          {{{18, 24}, {38, 0, kCorner}, {37, 50}, {36, 100}}},
          {{{20, 20}, {38, 0, kCorner}, {37, 50}, {37, 100}}, {{16, 100}, {60, 99}}},
      },
      {
          // 2: a sharp foot; a foot with a loop
          {{{8, 24}, {20, 5}, {42, 0}, {60, 17}, {54, 43}, {32, 70}, {6, 99, kCorner}, {36, 98}, {66, 98}}},
          {{{8, 20}, {26, 2}, {52, 5}, {60, 26}, {47, 57}, {24, 90}, {7, 95}, {8, 80}, {26, 80}, {46, 95}, {70, 92}}},
      },
      {
          // 3: a round top; a flat top
          {{{8, 13}, {28, 0}, {54, 9}, {54, 32}, {28, 46, kCorner}, {58, 58}, {63, 82}, {36, 100}, {6, 89}}},
          {{{8, 2}, {58, 2, kCorner}, {30, 40, kCorner}, {58, 54}, {62, 82}, {34, 100}, {4, 88}}},
      },
      {
          // 4: open; closed
          {{{14, 2}, {10, 30}, {6, 56, kCorner}, {34, 57}, {66, 53}}, {{54, 4}, {51, 50}, {48, 100}}},
          {{{69, 67}, {3, 67, kCorner}, {50, 0, kCorner}, {50, 50}, {49, 100}}},
      },
      {
          // 5: in one stroke; with a separate roof that slopes
          {{{61, 2}, {18, 2, kCorner}, {13, 44, kCorner}, {38, 38}, {62, 55}, {58, 86}, {30, 100}, {4, 89}}},
          {{{20, 6}, {14, 44, kCorner}, {38, 42}, {59, 60}, {54, 88}, {28, 100}, {4, 92}}, {{20, 5}, {40, 5}, {66, 0}}},
      },
      {
          // 6: a bowed back; a straight back
          {{{54, 1}, {26, 20}, {6, 60}, {16, 94}, {42, 99}, {61, 80}, {48, 57}, {24, 60}, {8, 78}}},
          {{{38, 0}, {18, 40}, {8, 76}, {28, 100}, {55, 90}, {56, 66}, {34, 55}, {11, 70}}},
      },
      {
          // 7: plain; with a bar; with a serif and a bowed leg
          {{{6, 4}, {34, 4}, {62, 3, kCorner}, {44, 50}, {28, 100}}},
          {{{6, 4}, {34, 4}, {62, 3, kCorner}, {44, 50}, {30, 100}}, {{22, 50}, {62, 47}}},
          {{{5, 18}, {8, 4, kCorner}, {64, 4, kCorner}, {42, 42}, {32, 100}}},
      },
      {
          // 8: in one stroke; as two rounds
          {{{38, 0},
            {15, 13},
            {20, 35},
            {48, 56},
            {61, 80},
            {36, 100},
            {9, 80},
            {22, 56},
            {52, 34},
            {58, 12},
            {38, 0}}},
          {{{35, 0}, {16, 9}, {15, 34}, {35, 46}, {55, 34}, {54, 9}, {35, 0}},
           {{35, 46}, {10, 59}, {9, 88}, {35, 100}, {61, 88}, {60, 59}, {35, 46}}},
      },
      {
          // 9: a straight leg; a curved tail
          {{{60, 20}, {38, 0}, {13, 16}, {13, 42}, {36, 50}, {57, 30}, {61, 6, kCorner}, {58, 50}, {54, 100}}},
          {{{58, 18}, {38, 0}, {12, 16}, {12, 42}, {36, 50}, {58, 30}, {60, 8, kCorner}, {63, 46}, {52, 86}, {22, 99}}},
      },
  }};
  return styles;
}

// How this writer turns, slants, stretches and places a digit on the page.
class Placement {
 public:
  explicit Placement(Random& random) {
    const double angle = std::clamp(random.normal() * 6.0, -12.0, 12.0) * std::numbers::pi / 180;
    const double slant = std::clamp(0.08 + random.normal() * 0.12, -0.2, 0.4);  // to the right more often than not
    const double width = kDigitSide * random.uniform(0.72, 1.08);
    const double height = kDigitSide * random.uniform(0.82, 1.04);
    // Rotation after slant after stretch.
    xx_ = std::cos(angle) * width;
    xy_ = (-std::cos(angle) * slant - std::sin(angle)) * height;
    yx_ = std::sin(angle) * width;
    yy_ = (std::cos(angle) - std::sin(angle) * slant) * height;
    middle_ = {kSide / 2.0 - 0.5 + random.uniform(-2, 2), kSide / 2.0 - 0.5 + random.uniform(-2, 2)};
  }

  Point on_page(const Knot& knot) const {
    const double x = knot.x / 100 - 0.35;
    const double y = knot.y / 100 - 0.5;
    return {middle_.x + xx_ * x + xy_ * y, middle_.y + yx_ * x + yy_ * y};
  }

 private:
  double xx_, xy_, yx_, yy_;
  Point middle_{};
};

struct Pen {
  double start_radius;  // pixels
  double end_radius;
};

using Page = std::array<double, kSide * kSide>;  // ink, 0 to 1

// A straight line; each pixel keeps the most ink it was given. The edge falls off over one pixel.
void draw_line(Page& page, Point from, Point to, double radius) {
  const double reach = radius + 0.5;
  const auto first = [&](double a, double b) {
    return std::max(0, static_cast<int>(std::ceil(std::min(a, b) - reach)));
  };
  const auto last = [&](double a, double b) {
    return std::min(kSide - 1, static_cast<int>(std::floor(std::max(a, b) + reach)));
  };
  const double dx = to.x - from.x;
  const double dy = to.y - from.y;
  const double length_squared = std::max(dx * dx + dy * dy, 1e-12);
  for (int row = first(from.y, to.y); row <= last(from.y, to.y); ++row) {
    for (int column = first(from.x, to.x); column <= last(from.x, to.x); ++column) {
      const double px = column - from.x;
      const double py = row - from.y;
      const double along = std::clamp((px * dx + py * dy) / length_squared, 0.0, 1.0);
      const double away_x = px - along * dx;
      const double away_y = py - along * dy;
      const double distance = std::sqrt(away_x * away_x + away_y * away_y);
      double& ink = page[static_cast<std::size_t>(row) * kSide + static_cast<std::size_t>(column)];
      ink = std::max(ink, std::clamp(reach - distance, 0.0, 1.0));
    }
  }
}

// Catmull-Rom: passes through b at 0 and c at 1, in the directions of a to c and b to d.
Point on_curve(Point a, Point b, Point c, Point d, double t) {
  const auto mix = [t](double p, double q, double r, double s) {
    return q + 0.5 * t * (r - p + t * (2 * p - 5 * q + 4 * r - s + t * (3 * (q - r) + s - p)));
  };
  return {mix(a.x, b.x, c.x, d.x), mix(a.y, b.y, c.y, d.y)};
}

void draw_stroke(Page& page, const Stroke& stroke, const Placement& placement, Pen pen) {
  std::vector<Point> points;
  points.reserve(stroke.size());
  for (const Knot& knot : stroke) points.push_back(placement.on_page(knot));
  const std::size_t intervals = points.size() - 1;
  const bool closed = stroke.front().x == stroke.back().x && stroke.front().y == stroke.back().y;

  // The neighbours beyond an interval give the curve its direction; at a corner or an end there is none.
  const auto before = [&](std::size_t i) {
    if (i == 0) return closed ? points[intervals - 1] : points[0];
    return stroke[i].corner ? points[i] : points[i - 1];
  };
  const auto after = [&](std::size_t i) {
    if (i == intervals) return closed ? points[1] : points[intervals];
    return stroke[i].corner ? points[i] : points[i + 1];
  };
  Point from = points[0];
  const auto pieces = static_cast<double>(intervals * kPiecesPerKnot);
  for (std::size_t piece = 1; piece <= intervals * kPiecesPerKnot; ++piece) {
    const std::size_t i = (piece - 1) / kPiecesPerKnot;
    const double t = static_cast<double>(piece - i * kPiecesPerKnot) / kPiecesPerKnot;
    const Point to = on_curve(before(i), points[i], points[i + 1], after(i + 1), t);
    const double done = static_cast<double>(piece) / pieces;
    draw_line(page, from, to, pen.start_radius + done * (pen.end_radius - pen.start_radius));
    from = to;
  }
}

// The hand is unsteady. A closed stroke still ends where it began.
Stroke shaken(Stroke stroke, double deviation, Random& random) {
  const bool closed = stroke.front().x == stroke.back().x && stroke.front().y == stroke.back().y;
  for (Knot& knot : stroke) {
    knot.x += deviation * random.normal();
    knot.y += deviation * random.normal();
  }
  if (closed) stroke.back() = stroke.front();
  return stroke;
}

// Each pixel gives this share of its ink to each neighbour, first along the rows, then along the columns.
void blur(Page& page, double share) {
  constexpr std::size_t kLast = kSide - 1;
  Page rows = page;
  for (std::size_t row = 0; row < kSide; ++row) {
    for (std::size_t column = 1; column < kLast; ++column) {
      const std::size_t at = row * kSide + column;
      rows[at] = (1 - 2 * share) * page[at] + share * (page[at - 1] + page[at + 1]);
    }
  }
  page = rows;
  for (std::size_t at = kSide; at < kLast * kSide; ++at) {
    page[at] = (1 - 2 * share) * rows[at] + share * (rows[at - kSide] + rows[at + kSide]);
  }
}

std::uint8_t render(std::uint8_t* image, Random random) {
  const std::size_t digit = random.below(10);
  const std::vector<Style>& styles = styles_of_digits()[digit];
  const Style& style = styles[random.below(styles.size())];
  const Placement placement(random);
  const double radius = std::clamp(1.25 + 0.3 * random.normal(), 0.7, 2.1);
  const double unsteadiness = random.uniform(0.5, 3.5);

  Page page{};
  for (const Stroke& stroke : style) {
    const Pen pen{radius * random.uniform(0.85, 1.15), radius * random.uniform(0.85, 1.15)};
    draw_stroke(page, shaken(stroke, unsteadiness, random), placement, pen);
  }
  blur(page, random.uniform(0.02, 0.14));

  // Grain is seen on the ink only: the paper stays black, as in MNIST.
  const double strength = 255 * random.uniform(0.85, 1.05);
  for (std::size_t at = 0; at < page.size(); ++at) {
    const double grain = page[at] > 0 ? 1 + 0.05 * random.normal() : 0;
    image[at] = static_cast<std::uint8_t>(std::clamp(std::lround(strength * grain * page[at]), 0L, 255L));
  }
  return static_cast<std::uint8_t>(digit);
}

}  // namespace

DigitImages render_digits(std::int64_t count, std::uint64_t seed) {
  DigitImages digits{Array(NumberType::kUInt8, {count, kSide, kSide}), {}};
  digits.labels.resize(static_cast<std::size_t>(count));
  auto* const images = digits.images.values<std::uint8_t>().data();
  auto* const labels = digits.labels.data();
  const std::uint64_t stream = Random(seed).next();
  parallel_for(count, 256, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      // Each image has its own numbers, so that it does not matter which thread draws it.
      const std::uint64_t own = Random(stream ^ static_cast<std::uint64_t>(i)).next();
      labels[i] = render(images + i * kSide * kSide, Random(own));
    }
  });
  return digits;
}

}  // namespace anesi
