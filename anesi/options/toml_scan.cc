#include "anesi/options/toml_scan.h"

#include <algorithm>

namespace anesi {
namespace {

// Goes past quotes and comments, in which dots and brackets mean nothing.
class TomlScanner {
 public:
  explicit TomlScanner(std::string_view text) : text_(text) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  }

  std::optional<TomlFault> scan() {
    while (at_ < text_.size()) {
      const char letter = text_[at_];
      if (letter == '"' || letter == '\'') {
        // The parser would go through what follows a wrong value, as if it were not in quotes.
        if (kBeforeStrings.find(previous_) == std::string_view::npos) {
          return TomlFault{line_, "a quote where no text can begin"};
        }
        previous_ = letter;
        if (!skip_string(letter)) return fault_;
        continue;
      }
      if (letter == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      if (is_beyond_ascii(letter)) return TomlFault{line_, "a letter beyond ASCII outside of quotes"};
      ++at_;
      if (letter != ' ' && letter != '\t' && letter != '\r') previous_ = letter;
      count(letter);
      if (dots_ >= kDeepestToml || brackets_ > kDeepestToml) {
        return TomlFault{line_, "names or values stand more than 16 deep inside one another"};
      }
    }
    return std::nullopt;
  }

 private:
  static_assert(kDeepestToml == 16, "as the message says");
  static constexpr std::string_view kBeforeStrings = "\n=.,[{";

  static bool is_beyond_ascii(char letter) { return static_cast<unsigned char>(letter) > 0x7f; }

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

  // False where the string does not end, or not on its line though it must, or has a fault.
  bool skip_string(char quote) {
    const std::string_view three = quote == '"' ? "\"\"\"" : "'''";
    const bool is_long = text_.substr(at_).starts_with(three);
    at_ += is_long ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\' && quote == '"') {
        if (is_long && !check_escape()) return false;
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

  // What follows a backslash in a long string: a letter, or spaces and line ends that do not count, and then one.
  bool check_escape() {
    const auto next = text_.find_first_not_of(" \t\r\n", at_ + 1);
    if (next == std::string_view::npos || !is_beyond_ascii(text_[next])) return true;
    const auto skipped = text_.substr(at_, next - at_);
    fault_ = TomlFault{line_ + static_cast<std::size_t>(std::count(skipped.begin(), skipped.end(), '\n')),
                       "a letter beyond ASCII behind a backslash"};
    return false;
  }

  std::string_view text_;
  std::optional<TomlFault> fault_;  // inside a string
  std::size_t at_ = 0, line_ = 1;
  char previous_ = '\n';  // but for spaces, before at_
  int dots_ = 0, brackets_ = 0;
};

}  // namespace

std::optional<TomlFault> scan_toml(std::string_view toml) { return TomlScanner(toml).scan(); }

}  // namespace anesi
