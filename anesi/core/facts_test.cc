#include "anesi/core/facts.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "anesi/core/problem.h"

namespace anesi {
namespace {

struct Parity {
  std::int64_t value;
};
struct Name {
  std::string text;
};

// A fact that is an interface, and one of its kinds.
class Oracle {
 public:
  virtual ~Oracle() = default;
  virtual std::int64_t answer() const = 0;
};
class Always final : public Oracle {
 public:
  explicit Always(std::int64_t answer) : answer_(answer) {}
  std::int64_t answer() const override { return answer_; }

 private:
  std::int64_t answer_;
};

TEST(Facts, AreFoundByTheirTypes) {
  Facts facts;
  EXPECT_EQ(facts.find<Parity>(), nullptr);
  EXPECT_EQ(facts.share<Parity>(), nullptr);
  facts.with(Parity{1}).with(Name{"sum"});
  ASSERT_NE(facts.find<Parity>(), nullptr);
  EXPECT_EQ(facts.find<Parity>()->value, 1);
  EXPECT_EQ(facts.find<Name>()->text, "sum");
  EXPECT_EQ(facts.find<Oracle>(), nullptr);
}

TEST(Facts, ALaterOneTakesThePlaceOfAnEarlierOneOfItsType) {
  Facts facts;
  facts.with(Parity{1}).with(Parity{0});
  EXPECT_EQ(facts.find<Parity>()->value, 0);
  facts.lazily<Parity>([] { return Parity{2}; });
  EXPECT_EQ(facts.find<Parity>()->value, 2);
  facts.with(Parity{3});
  EXPECT_EQ(facts.find<Parity>()->value, 3);
}

TEST(Facts, InterfacesAreGivenAsPointers) {
  Facts unique, shared, lazy;
  unique.with(std::unique_ptr<Oracle>(std::make_unique<Always>(4)));
  EXPECT_EQ(unique.find<Oracle>()->answer(), 4);
  const std::shared_ptr<const Oracle> oracle = std::make_shared<Always>(5);
  shared.with(oracle);
  EXPECT_EQ(shared.find<Oracle>(), oracle.get()) << "not the one that was given";
  lazy.lazily<Oracle>([] { return std::make_unique<Always>(6); });
  EXPECT_EQ(lazy.find<Oracle>()->answer(), 6);
  EXPECT_EQ(lazy.find<Always>(), nullptr) << "it is known by the type it was told as";
}

TEST(Facts, AreMadeWhenSomebodyFirstAsksAndOnlyOnce) {
  int made = 0;
  Facts facts;
  facts.lazily<Name>([&] {
    ++made;
    return Name{"made"};
  });
  EXPECT_EQ(made, 0);
  const auto copy = facts;
  const auto* const first = facts.find<Name>();
  EXPECT_EQ(first->text, "made");
  EXPECT_EQ(facts.find<Name>(), first);
  EXPECT_EQ(copy.find<Name>(), first) << "copies share what was made";
  EXPECT_EQ(made, 1);
}

TEST(Facts, AreMadeOnceWhereSeveralThreadsAskAtOnce) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> made = 0, waiting = 0;
    Facts facts;
    facts.lazily<Name>([&] {
      ++made;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return Name{"made"};
    });
    constexpr int kThreads = 8;
    std::vector<const Name*> found(kThreads);
    std::vector<std::thread> threads;
    for (std::size_t index = 0; index < kThreads; ++index) {
      threads.emplace_back([&, index] {
        ++waiting;
        while (waiting < kThreads) std::this_thread::yield();
        found[index] = facts.find<Name>();
      });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(made, 1);
    for (const auto* one : found) EXPECT_EQ(one, found[0]);
    ASSERT_NE(found[0], nullptr);
  }
}

TEST(Facts, ThatCouldNotBeMadeAreTriedAgain) {
  int tries = 0;
  Facts facts;
  facts.lazily<Parity>([&] {
    if (++tries == 1) throw std::runtime_error("not now");
    return Parity{tries};
  });
  EXPECT_THROW(facts.find<Parity>(), std::runtime_error);
  EXPECT_EQ(facts.find<Parity>()->value, 2);
}

TEST(Facts, OneMayBeMadeFromAnother) {
  Facts facts;
  facts.with(Parity{1});
  facts.lazily<Name>([before = facts] { return Name{std::to_string(before.find<Parity>()->value)}; });
  EXPECT_EQ(facts.find<Name>()->text, "1");
}

TEST(Facts, OfACopyAreItsOwnAndOutliveTheOriginal) {
  std::shared_ptr<const Name> kept;
  Facts copy;
  {
    Facts facts;
    facts.with(Name{"kept"});
    copy = facts;
    copy.with(Parity{7});
    EXPECT_EQ(facts.find<Parity>(), nullptr) << "a fact of the copy is not the original's";
    kept = facts.share<Name>();
  }
  EXPECT_EQ(copy.find<Name>(), kept.get());
  copy = Facts();
  EXPECT_EQ(kept->text, "kept") << "whoever shares a fact keeps it alive";
}

TEST(Facts, AreAddedToAProblemThatWasMadeFromALambda) {
  const auto plain = make_problem(Space{3}, Space{3}, [](Values w, MutableValues y) { y[0] = 2 - w[0]; });
  const auto told = with(with(plain, Parity{1}), Name{"mirror"});
  EXPECT_EQ(plain->facts().find<Parity>(), nullptr);
  EXPECT_EQ(told->facts().find<Parity>()->value, 1);
  EXPECT_EQ(told->facts().find<Name>()->text, "mirror");
  EXPECT_EQ(told->worlds(), plain->worlds());
  EXPECT_EQ(told->outputs(), plain->outputs());
  EXPECT_EQ(apply(*told, Points{{0}, {2}}), (Points{{2}, {0}}));
  const auto other = with_facts(told, Facts().with(Parity{0}));
  EXPECT_EQ(other->facts().find<Parity>()->value, 0);
  EXPECT_EQ(other->facts().find<Name>(), nullptr) << "with_facts() takes the place of all facts";
  const auto asked = with(plain, std::unique_ptr<Oracle>(std::make_unique<Always>(8)));
  EXPECT_EQ(asked->facts().find<Oracle>()->answer(), 8);
}

}  // namespace
}  // namespace anesi
