// What can be named: tasks, architectures, priors and losses, each a registry that its members add themselves to.
//
// A member that has options describes them in a struct; choosing it gives an object that holds values for them:
//
//   const auto chosen = architectures().find("scan").choose();   // a Choice
//   table.add_group("scan", *chosen);                            // its options, under its name
//   const auto q = chosen->make(problem, /*explain=*/false);
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/core/unique_name.h"
#include "anesi/options/option_table.h"

namespace anesi {

// Something that was chosen by name, with values for its options, and what it makes of its inputs.
template <typename Signature>
class Choice;

template <typename Made, typename... Inputs>
class Choice<Made(Inputs...)> {
 public:
  virtual ~Choice() = default;
  virtual void describe(OptionTable& table) = 0;
  virtual Made make(Inputs... inputs) const = 0;
};

// By a function of the inputs and of the options.
template <typename Signature, typename Options, typename Function>
class ChoiceOf;

template <typename Made, typename... Inputs, typename Options, typename Function>
class ChoiceOf<Made(Inputs...), Options, Function> final : public Choice<Made(Inputs...)> {
 public:
  explicit ChoiceOf(Function function) : function_(std::move(function)) {}
  void describe(OptionTable& table) override { options_.describe(table); }
  Made make(Inputs... inputs) const override { return function_(options_, std::forward<Inputs>(inputs)...); }

 private:
  Options options_{};
  Function function_;
};

// For members that have no options.
struct NoOptions {
  void describe(OptionTable&) {}
};

// A member of a registry of choices.
template <typename Signature>
struct Choosable {
  std::string summary;
  std::function<std::unique_ptr<Choice<Signature>>()> choose;
};

template <typename Signature, typename Options, typename Function>
Choosable<Signature> choosable(std::string summary, Function function) {
  return {std::move(summary),
          [function] { return std::make_unique<ChoiceOf<Signature, Options, Function>>(function); }};
}

// Filled while the program starts, then constant.
template <typename Entry>
class Registry {
 public:
  // `what` the members are, for messages: "task".
  explicit Registry(std::string what) : what_(std::move(what)) {}

  // A name that is there already is an error, which check() tells: nothing may be thrown before main().
  bool add(const std::string& name, Entry entry) {
    const bool is_new = entries_.emplace(name, std::move(entry)).second;
    if (!is_new && twice_.empty()) twice_ = name;
    return is_new;
  }

  // Throws UsageError that lists what there is.
  const Entry& find(const std::string& name) const {
    check();
    const auto found = entries_.find(name);
    if (found != entries_.end()) return found->second;
    std::string names;
    for (const auto& known : this->names()) names += (names.empty() ? "" : ", ") + known;
    throw UsageError("there is no " + what_ + " " + name + "; there are " + names);
  }
  bool contains(const std::string& name) const { return entries_.contains(name); }

  const std::map<std::string, Entry>& all() const {
    check();
    return entries_;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, entry] : entries_) names.push_back(name);
    return names;
  }

  // Throws Error where a name was registered twice.
  void check() const {
    if (!twice_.empty()) throw Error("two " + what_ + "s are registered as " + twice_ + "; rename one");
  }

 private:
  std::string what_, twice_;
  std::map<std::string, Entry> entries_;
};

}  // namespace anesi
