#include "core/base/metrics.hpp"

#include <gtest/gtest.h>

#include <set>

namespace dash::metrics {
namespace {

bool has(std::string_view text, std::string_view line) { return text.find(line) != text.npos; }

TEST(Metrics, DescribeEachThatThereIs) {
  auto text = expose({});
  std::set<std::string_view> names;
  for (const auto* metric : all()) {
    EXPECT_TRUE(names.insert(metric->name).second) << metric->name;
    EXPECT_TRUE(has(text, "# HELP " + std::string(metric->name) + " " + std::string(metric->help) + "\n"))
        << metric->name;
    // https://prometheus.io/docs/practices/naming/
    EXPECT_EQ(metric->name.ends_with("_total"), metric->type == Type::counter) << metric->name;
  }
}

TEST(Metrics, CountByLabel) {
  add(kRetries, {"metrics_test"});
  add(kRetries, {"metrics_test"}, 2);
  EXPECT_TRUE(has(expose({}), "dashctl_retries_total{class=\"metrics_test\"} 3\n"));
}

TEST(Metrics, ObserveSeconds) {
  using std::chrono::milliseconds;
  observe(kDecisionSeconds, {"deny", "metrics:test"}, milliseconds(4));
  observe(kDecisionSeconds, {"deny", "metrics:test"}, milliseconds(60'000));
  auto text = expose({});
  EXPECT_TRUE(has(text, R"(dashctl_decision_seconds_count{action="metrics:test",verdict="deny"} 2)")) << text;
  EXPECT_TRUE(
      has(text, R"(dashctl_decision_seconds_bucket{action="metrics:test",verdict="deny",le="0.005"} 1)"));
  EXPECT_TRUE(
      has(text, R"(dashctl_decision_seconds_bucket{action="metrics:test",verdict="deny",le="30"} 1)"));
}

TEST(Metrics, ShowSamplesWithTheirLabelsEscaped) {
  auto text = expose({{&kOldestJob, {"a\"b\n"}, 0}, {&kAgentsOnline, {}, 7}});
  EXPECT_TRUE(has(text, "dashctl_jobs_oldest_seconds{action=\"a\\\"b\\n\"} 0\n")) << text;
  EXPECT_TRUE(has(text, "# TYPE dashctl_agents_online gauge\ndashctl_agents_online 7\n"));
}

}  // namespace
}  // namespace dash::metrics
