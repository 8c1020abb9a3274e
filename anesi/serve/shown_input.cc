#include "anesi/serve/shown_input.h"

#include <fmt/format.h>

#include <vector>

#include "anesi/serve/base64.h"
#include "anesi/tensors/image_examples.h"

namespace anesi::serve {

InputShape shape_of(const torch::Tensor& input) {
  InputShape shape;
  shape.images = input.dim() == 4 || input.dim() == 5;
  if (!shape.images) {
    shape.numbers = input.numel();
    return shape;
  }
  shape.parts = input.size(1);
  shape.channels = input.dim() == 5 ? input.size(2) : 1;
  shape.height = input.size(-2);
  shape.width = input.size(-1);
  return shape;
}

nlohmann::ordered_json parts_json(const torch::Tensor& images) {
  auto parts = nlohmann::ordered_json::array();
  const auto bytes = ((images + 1) * 127.5).round().clamp(0, 255).to(torch::kUInt8).flatten(1).contiguous();
  for (std::int64_t part = 0; part < bytes.size(0); ++part) {
    const auto row = bytes[part];
    parts.push_back(to_base64(
        {reinterpret_cast<const char*>(row.const_data_ptr<std::uint8_t>()), static_cast<std::size_t>(row.numel())}));
  }
  return parts;
}

nlohmann::ordered_json numbers_json(const torch::Tensor& input) {
  const auto values = input.to(torch::kFloat64).flatten().contiguous();
  const auto* const numbers = values.const_data_ptr<double>();
  return std::vector<double>(numbers, numbers + values.numel());
}

torch::Tensor changed_input(const torch::Tensor& input, const InputQuestion& question) {
  if (!question.changed()) return input;
  const auto shape = shape_of(input);
  if (shape.images ? !question.numbers.empty() : !question.parts.empty()) {
    throw Refusal(400, shape.images ? "input: it is made of parts, not of numbers"
                                    : "input: it is made of numbers, not of parts");
  }
  auto changed = input.clone();
  for (const auto& [part, bytes] : question.parts) {
    if (part >= shape.parts) throw Refusal(400, fmt::format("parts: there are {}, from 0 on", shape.parts));
    if (static_cast<std::int64_t>(bytes.size()) != shape.bytes()) {
      throw Refusal(400, fmt::format("parts.{}: {} bytes; {} are wanted", part, bytes.size(), shape.bytes()));
    }
    auto image = torch::empty({shape.bytes()}, torch::kUInt8);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(image.mutable_data_ptr<std::uint8_t>()));
    changed[0][part].copy_(as_pixels(image).view(changed[0][part].sizes()));
  }
  auto flat = changed.view(-1);
  for (const auto& [number, value] : question.numbers) {
    if (number >= shape.numbers) throw Refusal(400, fmt::format("numbers: there are {}, from 0 on", shape.numbers));
    flat[number] = value;
  }
  return changed;
}

}  // namespace anesi::serve
