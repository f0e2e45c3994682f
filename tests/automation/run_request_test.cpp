#include "core/automation/run_request.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::automation {
namespace {

Json body(Json more = Json::object()) {
  Json out{{"asset", "site.yml"}, {"target", "web1"}};
  out.update(more);
  return out;
}

Code code_of(const Json& more, RunKind kind = RunKind::one) {
  auto read = read_run_request(body(more), kind);
  if (!read) return read.error().code;
  auto checked = check_run_request(*read, kind);
  return checked ? Code::conflict : checked.error().code;  // conflict: nothing else was wrong
}

TEST(RunRequest, ReadsMembersInEitherSpelling) {
  auto read = must(read_run_request(body({{"workgroup", " Web "},
                                          {"cloud", "aws"},
                                          {"extra_vars", R"({"a": 1})"},
                                          {"secret_vars", {{"p", "hunter2"}}},
                                          {"forks", 3},
                                          {"max_failures", 0}}),
                                    RunKind::one));
  EXPECT_EQ(read.workgroup, "web");
  EXPECT_EQ(read.cloud, "cloud1");
  EXPECT_EQ(read.extra_vars, (Json{{"a", 1}}));
  EXPECT_EQ(read.forks, 3);
  EXPECT_EQ(read.max_failures, 0);
  EXPECT_EQ(read.host_entries, Json::array({"web1"}));
}

TEST(RunRequest, AWrongShapeIsAValidationError) {
  for (const Json& more : {Json{{"asset", 1}}, Json{{"asset", ""}}, Json{{"check", "yes"}},
                           Json{{"forks", "1"}}, Json{{"extra_vars", "x"}},
                           Json{{"extra_vars", Json::array()}}, Json{{"secret_vars", {{"p", 1234567}}}},
                           Json{{"secret_vars", {{"p", "short"}}}}, Json{{"hosts", Json::array({"web2"})}}})
    EXPECT_EQ(code_of(more), Code::validation) << more;
  EXPECT_EQ(read_run_request({{"target", "a"}}, RunKind::one).error().code, Code::validation);
  EXPECT_EQ(code_of(Json::object(), RunKind::compose), Code::validation) << "no project";
}

TEST(RunRequest, ValuesThatCannotBeAreInvalid) {
  for (const Json& more :
       {Json{{"forks", 0}}, Json{{"forks", 101}}, Json{{"max_failures", -1}},
        Json{{"extra_vars", {{"a-b", 1}}}}, Json{{"extra_vars", {{"ansible_host", "10.0.0.9"}}}},
        Json{{"secret_vars", {{"ansible_password", "hunter22"}}}},
        Json{{"extra_vars", {{"a", 1}}}, {"secret_vars", {{"a", "hunter2"}}}}})
    EXPECT_EQ(code_of(more), Code::invalid) << more;
  EXPECT_EQ(code_of({{"secret_vars", {{"ansible_become_password", "hunter22"}}}}), Code::conflict);
  EXPECT_EQ(code_of({{"project", "Shop"}}, RunKind::compose), Code::invalid);
}

TEST(RunRequest, TheInventoryOfABatchWinsOverATarget) {
  auto both = body({{"inventory_ids", {"web2", 3}}});
  EXPECT_EQ(must(read_run_request(both, RunKind::bulk)).host_entries.size(), 2u);
  EXPECT_EQ(read_run_request(both, RunKind::one).error().code, Code::validation);
}

TEST(RunRequest, NamesWhatOnlyAnExecutableCanDo) {
  auto read = must(read_run_request(body({{"agent_id", "7"}, {"target_kind", "k8s"}, {"connection_id", ""}}),
                                    RunKind::one));
  EXPECT_EQ(read.foreign_members, (std::vector<std::string>{"agent_id", "target_kind"}));
  EXPECT_TRUE(must(read_run_request(body({{"target_kind", "vm"}}), RunKind::one)).foreign_members.empty());
}

}  // namespace
}  // namespace dash::automation
