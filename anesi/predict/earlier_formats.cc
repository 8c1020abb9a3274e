#include "anesi/predict/earlier_formats.h"

#include "anesi/models/exact_architecture.h"

namespace anesi {

// The names are those of options of version 0.1, whatever they are called today.
void complete_format_1(Manifest& saved) {
  const auto option_or = [&](const char* name, const char* fallback) {
    const auto found = saved.options.find(name);
    return found == saved.options.end() ? std::string(fallback) : found->second;
  };
  const auto variant = option_or("q.variant", "predict");
  saved.explains = variant != "predict" || saved.architecture == kExactArchitecture;
  saved.prunes = variant == "prune" || option_or("eval.prune", "false") == "true";
  saved.q_learned = option_or("loss", "") != "rloo";
  if (option_or("refine.epochs", "0") != "0") saved.members = std::stoll(option_or("refine.members", "1"));
}

}  // namespace anesi
