#include "anesi/options/registry.h"

#include <gtest/gtest.h>

#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

struct Multiply {
  std::int64_t factor = 2;
  void describe(OptionTable& table) { table.add("factor", factor, {1, 10}, "what to multiply with"); }
};

using Signature = std::int64_t(std::int64_t);

TEST(Registry, AMemberIsChosenWithOptionsOfItsOwn) {
  Registry<Choosable<Signature>> registry("operation");
  EXPECT_TRUE(registry.add(
      "times", choosable<Signature, Multiply>(
                   "a product", [](const Multiply& options, std::int64_t x) { return options.factor * x; })));
  const auto one = registry.find("times").choose(), other = registry.find("times").choose();
  OptionTable table;
  table.add_group("times", *one);
  table.set("times.factor=5");
  EXPECT_EQ(one->make(3), 15);
  EXPECT_EQ(other->make(3), 6) << "choices share their options";
}

std::string message(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Registry, UnknownNamesAndNamesRegisteredTwiceAreNamed) {
  Registry<int> registry("thing");
  registry.add("a", 1);
  registry.add("b", 2);
  EXPECT_EQ(registry.find("b"), 2);
  EXPECT_TRUE(toys::names(message([&] { registry.find("c"); }), {"thing c", "a, b"}));
  EXPECT_FALSE(registry.add("a", 3));
  EXPECT_TRUE(toys::names(message([&] { registry.find("b"); }), {"things", "a"}));
  EXPECT_TRUE(toys::names(message([&] { registry.all(); }), {"things", "a"}));
}

}  // namespace
}  // namespace anesi
