// Inputs as pictures, to be put into a page.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace anesi {

struct ReportPicture {
  std::string uri = {};                // data:…; "" where there is no picture
  std::int64_t width = 0, height = 0;  // to be shown at, in pixels; 0: as large as it is
};

// One example's input: its parts, [1, parts, height, width] (grey) or [1, parts, 3, height, width], with
// values from -1 to 1, beside each other in so many columns (0: as many as fit). Grey ones are drawn as ink on paper.
// Nothing where the input is no image.
ReportPicture input_picture(const torch::Tensor& input, std::int64_t columns = 0);

// An SVG document as a data URI, which can stand in double quotes.
std::string svg_uri(std::string_view svg);

}  // namespace anesi
