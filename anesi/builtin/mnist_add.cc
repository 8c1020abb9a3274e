#include "anesi/builtin/mnist_add.h"

#include <fmt/format.h>

#include <algorithm>

#include "anesi/builtin/addition.h"
#include "anesi/io/files.h"
#include "anesi/io/idx.h"

namespace anesi {
namespace {

// The digits as IDX files and, for each split, which of them make up each sum.
void write_sums(const SplitArrays& splits, const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  const auto write = [&](const ExampleArrays& data, const std::string& split, const std::string& prefix) {
    write_idx(directory / (prefix + "-images-idx3-ubyte"), data.inputs);
    std::string text = "sum,images\n";
    const auto sums = points_of(*data.outputs), images = points_of(*data.index);
    for (std::int64_t example = 0; example < sums.size(); ++example) {
      text += number_of(sums[example]);
      char separator = ',';
      for (const auto image : images[example]) {
        text += fmt::format("{}{}", separator, image);
        separator = ' ';
      }
      text += "\n";
    }
    write_file_atomically(directory / (split + ".csv"), text);
  };
  write(splits.train, "train", "train");
  if (splits.validation) write(*splits.validation, "validation", "train");
  write(splits.test, "test", "t10k");
}

}  // namespace

std::string digits_of(Values values) {
  std::string text;
  for (const auto value : values) text += static_cast<char>('0' + value);
  return text;
}

std::string number_of(Values values) {
  const auto text = digits_of(values);
  return text.substr(std::min(text.find_first_not_of('0'), text.size() - 1));
}

Builtin mnist_add(const MnistAddOptions& options, const TaskContext& context) {
  std::shared_ptr<const Problem> problem = std::make_shared<const Addition>(options.digits);
  if (!options.described) problem = with_facts(problem, {});
  Builtin task{.problem = problem, .load = rows_of_digits(problem, context)};
  task.export_data = [load = task.load](const std::filesystem::path& directory) { write_sums(load(), directory); };
  return task;
}

namespace {
ANESI_BUILTIN(MnistAddOptions, mnist_add);
}  // namespace

}  // namespace anesi
