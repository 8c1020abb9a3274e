// Digits drawn by a program, for when there is no MNIST and no way to fetch it.
//
// Each digit is written in one of a few styles (a 1 with or without its flag, a 7 with or without its bar) as strokes
// through control points. The points are shaken, the drawing is turned, slanted, stretched and shifted, the pen varies
// in width and ink, and the result is slightly blurred. The images look like MNIST (28x28, white on black, the digit in
// the middle 20x20), and a network learns them in the same way, but they are easier: figures measured on them say
// nothing about MNIST.
#pragma once

#include <cstdint>

#include "anesi/data/digits.h"

namespace anesi {

// Each digit is equally likely. The same count and seed give the same images, however many threads work on it; a larger
// count begins with the images of a smaller one. 70,000 images take a second or two.
DigitImages render_digits(std::int64_t count, std::uint64_t seed);

}  // namespace anesi
