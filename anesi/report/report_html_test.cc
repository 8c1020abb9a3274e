#include "anesi/report/report_html.h"

#include <gtest/gtest.h>

#include <regex>

#include "anesi/io/files.h"
#include "anesi/report/input_picture.h"
#include "anesi/run/run.h"
#include "anesi/run/run_record.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/small_training.h"

namespace anesi {
namespace {

using toys::SmallTraining;

struct ReportTest : testing::Test {
  TemporaryDirectory scratch;

  // A run that has begun, with two lines in its log.
  std::filesystem::path begun(const std::string& name) const {
    const auto directory = scratch.path() / name;
    SmallTraining training;
    const auto run = Run::create(directory, training.configuration);
    Evaluation evaluation;
    evaluation.examples = 40;
    evaluation.symbolic = evaluation.accuracy = 0.725;
    run.log({.phase = "q", .step = 3, .steps = 3, .q_loss = 0.5, .seconds = 0.25, .split = "test"}, {});
    run.log({.phase = "perception",
             .step = 4,
             .steps = 8,
             .epoch = 1,
             .epochs = 2,
             .loss = 1.5,
             .seconds = 1,
             .split = "test"},
            evaluation);
    return directory;
  }
};

// Every <data> element is the number that the JSON has at the place it names.
void expect_figures_of_json(const std::string& html, const nlohmann::ordered_json& figures) {
  static const std::regex kFigure("<data value=\"([^\"]*)\" data-at=\"([^\"]*)\">([^<]*)</data>");
  int seen = 0;
  for (std::sregex_iterator match(html.begin(), html.end(), kFigure), end; match != end; ++match, ++seen) {
    const auto& there = figures[nlohmann::ordered_json::json_pointer((*match)[2].str())];
    EXPECT_EQ((*match)[1].str(), there.dump()) << match->str();
  }
  EXPECT_GT(seen, 3);
}

TEST_F(ReportTest, AnUnfinishedRunIsToldWithoutItsModel) {
  const auto directory = begun("run");
  const auto report = make_report({directory}, {});
  const auto& run = report.figures["runs"][0];
  EXPECT_EQ(run["state"], "unfinished");
  EXPECT_EQ(run["log"].size(), 2);
  EXPECT_EQ(run["log"][1]["symbolic"], 0.725);
  EXPECT_TRUE(run["left_out"].contains("model"));
  EXPECT_TRUE(report.figures["mistakes"].empty());
  const auto html = report_html(report);
  EXPECT_NE(html.find("<data value=\"0.725\" data-at=\"/runs/0/log/1/symbolic\">72.50 %</data>"), std::string::npos);
  expect_figures_of_json(html, report.figures);
}

TEST_F(ReportTest, ReadsARunThatIsLocked) {
  const auto directory = begun("run");
  const DirectoryLock training(directory);
  EXPECT_NO_THROW(make_report({directory}, {}));
}

TEST_F(ReportTest, HostileNamesStayText) {
  const auto directory = begun("<img src=x onerror=alert(1)>\"'&amp;");
  append_to_file(directory / "log.jsonl", "{\"phase\":\"</script><b>\",\"seconds\":2,\"loss\":1}\n");
  const auto html = report_html(make_report({directory, directory}, {}));
  EXPECT_EQ(html.find("<img src=x"), std::string::npos);
  EXPECT_EQ(html.find("</script><b>"), std::string::npos);
  EXPECT_NE(html.find("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;amp;"), std::string::npos);
  EXPECT_EQ(html.find("</script>"), html.rfind("</script>"));
}

TEST_F(ReportTest, ALineThatIsCutShortIsLeftOut) {
  const auto directory = begun("run");
  append_to_file(directory / "log.jsonl", R"({"phase":"percep)");
  EXPECT_EQ(read_log(directory).size(), 2);
  append_to_file(directory / "log.jsonl", "\n");
  EXPECT_TRUE(toys::names(toys::message_of([&] { read_log(directory); }), {"log.jsonl", "line 3"}));
}

TEST_F(ReportTest, RunsOfAFolderComeInTheOrderOfTheirNumbers) {
  for (const auto* name : {"seed-10", "seed-9", "seed-0"}) begun(name);
  make_directories(scratch.path() / "other");
  std::vector<std::string> names;
  for (const auto& directory : run_directories({scratch.path().string()}))
    names.push_back(directory.filename().string());
  EXPECT_EQ(names, (std::vector<std::string>{"seed-0", "seed-9", "seed-10"}));
  const auto other = (scratch.path() / "other").string();
  EXPECT_TRUE(toys::names(toys::message_of([&] { run_directories({other}); }), {other}));
}

TEST(InputPicture, PutsPartsBesideEachOther) {
  const auto picture = input_picture(torch::zeros({1, 4, 28, 28}), 2);
  EXPECT_EQ(picture.uri.substr(0, 22), "data:image/png;base64,");
  EXPECT_EQ(picture.width, 3 * (28 + 2 + 28));
  EXPECT_EQ(picture.height, picture.width);
  EXPECT_EQ(input_picture(torch::zeros({1, 9, 3, 8, 8}), 3).height, 3 * (8 + 2 + 8 + 2 + 8));
  EXPECT_EQ(input_picture(torch::zeros({1, 24})).uri, "");
}

TEST(InputPicture, SvgStandsInQuotes) {
  EXPECT_EQ(svg_uri("<a b=\"#1\">50%&'\n"), "data:image/svg+xml;charset=utf-8,%3Ca b=%22%231%22%3E50%25%26%27%0A");
}

}  // namespace
}  // namespace anesi
