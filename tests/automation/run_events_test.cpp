#include "core/automation/run_events.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::automation {
namespace {

TEST(RunEvent, ReadsWhatThePluginWrites) {
  auto lines = parse_run_event(R"({"event": "lines", "host": null, "lines": ["PLAY [all]", "x"]})");
  ASSERT_TRUE(lines);
  EXPECT_FALSE(lines->host);
  EXPECT_EQ(lines->lines, (std::vector<std::string>{"PLAY [all]", "x"}));
  auto outcome = parse_run_event(R"({"event": "outcome", "host": "a", "outcome": "failed", "error": "no"})");
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->outcome, Outcome::failed);
  EXPECT_EQ(outcome->error, "no");
  EXPECT_EQ(parse_run_event(R"({"event": "done", "host": "a"})")->kind, RunEvent::Kind::done);
}

TEST(RunEvent, IgnoresAnythingElse) {
  for (auto text : {"", "x", "[]", "{}", R"({"event":"outcome","host":"a","outcome":"great"})",
                    R"({"event":"outcome","outcome":"ok"})", R"({"event":"done"})", R"({"event":"lines"})",
                    R"({"event":"lines","lines":"x"})", R"({"event":"other","host":"a"})"})
    EXPECT_FALSE(parse_run_event(text)) << text;
}

TEST(RunEventReader, PutsPiecesTogetherAndDropsALineThatIsTooLong) {
  std::vector<std::string> hosts;
  RunEventReader reader([&](const RunEvent& event) { hosts.push_back(*event.host); });
  must(reader.write(R"({"event":"do)"));
  must(reader.write("ne\",\"host\":\"a\"}\n{\"event\":\"done\",\"host\":\"b\"}\nrubbish\n"));
  must(reader.write(std::string(RunEventReader::kMaxEventBytes + 1, 'x')));
  must(reader.write("\n{\"event\":\"done\",\"host\":\"c\"}\n"));
  EXPECT_EQ(hosts, (std::vector<std::string>{"a", "b", "c"}));
}

TEST(Outcome, HasAWord) {
  EXPECT_EQ(word(Outcome::unreachable), "unreachable");
  EXPECT_EQ(word(Outcome::skipped), "skipped");
  EXPECT_TRUE(is_bad(Outcome::failed));
  EXPECT_FALSE(is_bad(Outcome::changed));
}

}  // namespace
}  // namespace dash::automation
