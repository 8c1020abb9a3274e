// manifest.json, which says what a saved model is (saved_model.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace anesi {

constexpr int kManifestFormat = 2;

struct Manifest {
  std::string task, preset;                    // empty where it was not trained as a registered task
  std::map<std::string, std::string> options;  // by full name; those of training too where a task was trained
  std::string architecture;                    // of q; "exact" where it is exact inference
  bool explains = false, prunes = false, q_learned = true;
  std::int64_t members = 1;                   // perceptions whose beliefs are averaged
  std::vector<std::int64_t> worlds, outputs;  // domains
  struct Fit {
    double slope = 1, offset = 0;
  };
  std::optional<Fit> decision_fit;             // of a decision by a score (decision.h)
  std::string trained_on;                      // where the data came from; empty where that is not known
  std::vector<std::int64_t> data_fingerprint;  // of examples.h
  std::string checksum;                        // of the weights, SHA-256
  std::string found_checksum, found;           // of the facts that were found, and what they are in a line; empty: none
};

// The path only says in errors which file it was. Throws Error where the text is no manifest, or a later version's.
Manifest parse_manifest(std::string_view text, const std::filesystem::path& path);

}  // namespace anesi
