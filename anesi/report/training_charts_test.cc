#include "anesi/report/training_charts.h"

#include <gtest/gtest.h>

#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

LogRow row_of(const std::string& phase, int epoch, double seconds, const LogRow& loss, const LogRow& accuracy) {
  return {{"phase", phase},     {"epoch", epoch},      {"step", 10 * epoch},    {"seconds", seconds},
          {"loss", loss},       {"q_loss", nullptr},   {"split", "validation"}, {"symbolic", accuracy},
          {"neural", accuracy}, {"believed", nullptr}, {"accuracy", accuracy},  {"nll", nullptr}};
}

std::vector<LogRow> log_of(double best) {
  auto q = row_of("q", 0, 0.5, nullptr, nullptr);
  q["q_loss"] = 0.25;
  return {q, row_of("perception", 1, 2, 3.5, best - 0.1), row_of("perception", 2, 4, 1.5, best)};
}

TEST(TrainingCharts, HaveTheNumbersOfTheLog) {
  const auto charts = training_charts(log_of(0.9));
  ASSERT_EQ(charts.size(), 2);  // there is no likelihood
  EXPECT_EQ(charts[0].title, "Loss");
  EXPECT_EQ(charts[0].table.columns,
            (std::vector<std::string>{"phase", "epoch", "step", "seconds", "loss of perception", "loss of q"}));
  ASSERT_EQ(charts[0].table.rows.size(), 3);
  EXPECT_EQ(LogRow(charts[0].table.rows[0]).dump(), R"(["q",0,0,0.5,null,0.25])");
  EXPECT_EQ(LogRow(charts[0].table.rows[2]).dump(), R"(["perception",2,20,4.0,1.5,null])");
  EXPECT_EQ(charts[1].title, "Accuracy on validation data");
  EXPECT_EQ(LogRow(charts[1].table.rows[2]).dump(), R"(["perception",2,20,4.0,0.9,0.9])");
  EXPECT_NE(charts[1].svg.find("right (%)"), std::string::npos);
  EXPECT_NE(charts[1].svg.find(">perception</text>"), std::string::npos) << "phases are named";
}

TEST(TrainingCharts, OfNothingAreNone) {
  EXPECT_TRUE(training_charts({}).empty());
  EXPECT_TRUE(overlaid_charts({}).empty());
}

TEST(TrainingCharts, PassOverWhatIsNoLog) {
  const std::vector<LogRow> strange{
      {{"phase", 7}, {"loss", "much"}, {"seconds", nullptr}}, {{"accuracy", {{"a", 1}}}}, LogRow::object()};
  EXPECT_TRUE(training_charts(strange).empty());
  auto log = log_of(0.9);
  log.insert(log.end(), strange.begin(), strange.end());
  for (const auto& chart : training_charts(log)) EXPECT_EQ(chart.svg.find("nan"), std::string::npos);
}

TEST(TrainingCharts, SeveralRunsHaveAMeanWhereTheyWereEvaluatedAlike) {
  const auto alike = overlaid_charts({{"one", log_of(0.9)}, {"two", log_of(0.8)}});
  ASSERT_EQ(alike.size(), 2);
  EXPECT_NE(alike[1].svg.find(">mean</text>"), std::string::npos);
  EXPECT_TRUE(toys::names(alike[1].svg, {"mean", "85"}));
  EXPECT_EQ(alike[1].table.rows.size(), 4);
  auto shorter = log_of(0.8);
  shorter.pop_back();
  const auto apart = overlaid_charts({{"one", log_of(0.9)}, {"two", shorter}});
  EXPECT_EQ(apart[1].svg.find(">mean</text>"), std::string::npos);
}

}  // namespace
}  // namespace anesi
