#include "anesi/options/toml_depth.h"

#include <algorithm>

namespace anesi {
namespace {

// Goes past quotes and comments, in which dots and brackets mean nothing.
class TomlScanner {
 public:
  explicit TomlScanner(std::string_view text) : text_(text) {}

  std::optional<std::size_t> too_deep_line() {
    while (at_ < text_.size()) {
      const char letter = text_[at_];
      if (letter == '"' || letter == '\'') {
        if (!skip_string(letter)) return std::nullopt;
        continue;
      }
      if (letter == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      ++at_;
      count(letter);
      if (dots_ >= kDeepestToml || brackets_ > kDeepestToml) return line_;
    }
    return std::nullopt;
  }

 private:
  void count(char letter) {
    if (letter == '.') {
      ++dots_;
    } else if (letter == '[' || letter == '{') {
      ++brackets_;
      dots_ = 0;
    } else if (letter == ']' || letter == '}') {
      brackets_ = std::max(brackets_ - 1, 0);
      dots_ = 0;
    } else if (letter == '=' || letter == ',') {
      dots_ = 0;
    } else if (letter == '\n') {
      dots_ = 0;
      ++line_;
    }
  }

  // False where the string does not end, or not on its line though it must.
  bool skip_string(char quote) {
    const std::string_view three = quote == '"' ? "\"\"\"" : "'''";
    const bool is_long = text_.substr(at_).starts_with(three);
    at_ += is_long ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\' && quote == '"') {
        ++at_;
        if (at_ < text_.size() && text_[at_] == '\n') ++line_;
      } else if (text_[at_] == '\n') {
        if (!is_long) return false;
        ++line_;
      } else if (is_long ? text_.substr(at_).starts_with(three) : text_[at_] == quote) {
        at_ += is_long ? 3 : 1;
        // Up to two more quotes belong to a long string that ends in quotes.
        for (int more = 0; is_long && more < 2 && at_ < text_.size() && text_[at_] == quote; ++more) ++at_;
        return true;
      }
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1;
  int dots_ = 0, brackets_ = 0;
};

}  // namespace

std::optional<std::size_t> too_deep_line(std::string_view toml) { return TomlScanner(toml).too_deep_line(); }

}  // namespace anesi
