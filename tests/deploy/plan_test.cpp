#include "core/deploy/plan.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::deploy {
namespace {

TEST(Plan, CountsWhatItDoes) {
  auto plan = must(read_plan(R"({"format_version":"1.2","resource_changes":[
    {"mode":"managed","change":{"actions":["create"]}},
    {"mode":"managed","change":{"actions":["delete","create"]}},
    {"mode":"managed","change":{"actions":["update"]}},
    {"mode":"managed","change":{"actions":["no-op"]}},
    {"mode":"data","change":{"actions":["read"]}}]})"));
  plan.digest = "d";
  EXPECT_EQ(dump_json(to_json(plan)), R"({"add":2,"change":1,"destroy":1,"digest":"d"})");
  EXPECT_EQ(must(read_plan(R"({"format_version":"1.2"})")).add, 0);
  for (auto text : {"", "[]", "{}", R"({"format_version":"1","resource_changes":[1]})"})
    EXPECT_FALSE(read_plan(text)) << text;
}

}  // namespace
}  // namespace dash::deploy
