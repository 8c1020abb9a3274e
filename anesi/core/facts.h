// What is known of a function besides its values.
//
// Each fact buys something: a reading order buys the transducer, an automaton exact inference, and a formula a pruner.
// A fact is a value of its own type, declared beside what uses it; nothing here knows which there are. A new kind of
// structure is a new type in a new file, and a fact that nobody looks for does no harm.
//
//   facts.with(ReadingOrder(…));                                     // a value
//   facts.lazily<Cnf>([digits] { return addition_formula(digits); });  // made when somebody first asks
//   if (const auto* order = facts.find<ReadingOrder>()) …
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <type_traits>
#include <typeindex>
#include <unordered_map>

namespace anesi {

// Copies share the facts themselves. find() and share() may be called from several threads at once.
class Facts {
 public:
  // Null where nothing of that type is known. Valid as long as a copy of these facts lives.
  template <typename Fact>
  const Fact* find() const {
    return share<Fact>().get();
  }

  // The same, kept alive by whoever holds it.
  template <typename Fact>
  std::shared_ptr<const Fact> share() const {
    const auto place = facts_.find(typeid(Fact));
    if (place == facts_.end()) return nullptr;
    return std::static_pointer_cast<const Fact>(place->second->value_once_made());
  }

  // Adds a fact, in place of another of its type. One that is an interface is given as a pointer to it: what counts is
  // the pointer's type, std::unique_ptr<Pruner>, not that of what it points to.
  template <typename Fact>
  Facts& with(Fact fact) {
    return with(std::make_shared<const Fact>(std::move(fact)));
  }
  template <typename Fact>
  Facts& with(std::unique_ptr<Fact> fact) {
    return with(std::shared_ptr<const Fact>(std::move(fact)));
  }
  template <typename Fact>
  Facts& with(std::shared_ptr<Fact> fact) {
    return insert(typeid(std::remove_const_t<Fact>), nullptr, std::move(fact));
  }

  // A fact that is made, once, when somebody first asks for it: `make` returns the fact or a pointer to it. It must not
  // refer to what may be gone by then.
  template <typename Fact, typename Make>
  Facts& lazily(Make make) {
    return insert(
        typeid(Fact),
        [make = std::move(make)]() -> std::shared_ptr<const void> {
          if constexpr (std::is_convertible_v<std::invoke_result_t<Make>, std::shared_ptr<const Fact>>) {
            return std::shared_ptr<const Fact>(make());
          } else {
            return std::make_shared<const Fact>(make());
          }
        },
        nullptr);
  }

 private:
  struct Entry {
    std::function<std::shared_ptr<const void>()> make;
    std::shared_ptr<const void> value;
    std::atomic<bool> made;
    std::mutex making;

    const std::shared_ptr<const void>& value_once_made() {
      if (!made.load(std::memory_order_acquire)) {
        const std::lock_guard lock(making);
        if (!made.load(std::memory_order_relaxed)) {
          value = make();
          made.store(true, std::memory_order_release);
        }
      }
      return value;
    }
  };
  Facts& insert(std::type_index type, std::function<std::shared_ptr<const void>()> make,
                std::shared_ptr<const void> value) {
    auto entry = std::make_shared<Entry>();
    entry->made = make == nullptr;
    entry->make = std::move(make);
    entry->value = std::move(value);
    facts_.insert_or_assign(type, std::move(entry));
    return *this;
  }

  std::unordered_map<std::type_index, std::shared_ptr<Entry>> facts_;
};

}  // namespace anesi
