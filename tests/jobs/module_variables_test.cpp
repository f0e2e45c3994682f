#include "core/jobs/module_variables.hpp"

#include <fstream>

#include "core/config/masking.hpp"
#include "core/jobs/job_rows.hpp"
#include "tests/support/jobs_fixture.hpp"

namespace dash::jobs {
namespace {

struct FakeCatalog final : ModuleCatalog {
  Result<std::optional<DeclaredVariables>> declared(const std::string& action) const override {
    auto found = modules.find(action);
    return found == modules.end() ? std::nullopt : std::optional(found->second);
  }
  std::map<std::string, DeclaredVariables> modules{
      {"cloud1:vm:deploy", {{"disk_gb", {}}, {"tags", {}}, {"password", {.is_sensitive = true}}}},
      {"clouddb:provision", {{"storage_gb", {.is_required = true}}}}};
};

class ModuleVariables : public JobsFixture {
 protected:
  ModuleVariables() { deps_.modules = &catalog_; }
  Result<SubmitResult> submit(const Json& body, std::string action = "cloud1:vm:deploy",
                              bool is_bulk = false) {
    return Jobs(deps_).submit(alice_, {std::move(action), body, "", is_bulk});
  }
  // Returns the member that a 422 names, as "items/1/disk_gb".
  std::string refused(const Json& body, std::string action = "cloud1:vm:deploy", bool is_bulk = false) {
    auto result = submit(body, std::move(action), is_bulk);
    EXPECT_FALSE(result);
    if (result || result.error().code != Code::validation || !result.error().body) return "accepted";
    std::string out;
    auto where = (*result.error().body)[0]["loc"];
    for (std::size_t i = 1; i < where.size(); ++i)
      out +=
          (out.empty() ? "" : "/") + (where[i].is_string() ? where[i].get<std::string>() : where[i].dump());
    return out;
  }
  FakeCatalog catalog_;
};

TEST_F(ModuleVariables, StandInTheEvaluatedRequestWithTheirTypes) {
  Json values = {{"disk_gb", 40}, {"tags", {"a", "$(touch x)"}}};
  auto job = must(submit(machine(values))).jobs.at(0);
  EXPECT_EQ(job.request["variables"], values);
  EXPECT_EQ(gate_.calls.back().request["variables"], values);
  EXPECT_EQ(variables_of_job(job.request, must(open_parameters(store_, job))), values);
  EXPECT_FALSE(must(submit(machine())).jobs.at(0).request.contains("variables"));
  EXPECT_FALSE(must(submit(machine({{"disk_gb", nullptr}}))).jobs.at(0).request.contains("variables"));
}

TEST_F(ModuleVariables, ASensitiveOneIsSealedAndMasked) {
  auto job = must(submit(machine({{"password", "hunter2-secret"}, {"disk_gb", 1}}))).jobs.at(0);
  EXPECT_EQ(job.request["variables"]["password"], config::kMask);
  EXPECT_EQ(dump_json(gate_.calls.back().request).find("hunter2"), std::string::npos);
  auto run = variables_of_job(job.request, must(open_parameters(store_, job)));
  EXPECT_EQ(run, Json({{"password", "hunter2-secret"}, {"disk_gb", 1}}));
  std::ifstream in(scratch_ / "dashctl.db-wal", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(bytes.find("hunter2-secret"), std::string::npos);
}

TEST_F(ModuleVariables, AMemberThatNobodyKnowsIsNamed) {
  EXPECT_EQ(refused(machine({{"disk_size", 40}})), "disk_size");
  EXPECT_EQ(refused(machine({{"disk_size", nullptr}})), "disk_size");
  EXPECT_EQ(refused(machine({{"-var", "x"}})), "-var");
  EXPECT_EQ(refused(machine({{"a b", "x"}})), "a b");
  EXPECT_EQ(refused(machine({{"engine", "postgres"}})), "engine");
  EXPECT_EQ(refused({{"image", "i"}, {"items", {{{"name", "a"}}, {{"name", "b"}, {"nope", 1}}}}},
                    "cloud1:vm:deploy", true),
            "items/1/nope");
  EXPECT_EQ(count_jobs(), 0);
  // No module runs this action: what is unknown goes to an executor.
  auto job =
      must(submit({{"vm_name", "w"}, {"image_id", "i"}, {"disk_size", 4}}, "cloud2:vm:deploy")).jobs.at(0);
  EXPECT_EQ(must(open_parameters(store_, job)), Json({{"disk_size", 4}}));
}

TEST_F(ModuleVariables, AreBoundedAndTakeNoZeroByte) {
  EXPECT_EQ(refused(machine({{"disk_gb", std::string(kMaxVariableBytes, 'x')}})), "disk_gb");
  EXPECT_EQ(refused(machine({{"tags", {std::string("a\0b", 3)}}})), "tags");
  auto& module = catalog_.modules["cloud1:vm:deploy"];
  Json many = Json::object(), large = Json::object();
  for (std::size_t i = 0; i <= kMaxVariables; ++i) {
    module[fmt::format("v{:02}", i)] = {};
    many[fmt::format("v{:02}", i)] = i;
    if (i < 5) large[fmt::format("v{:02}", i)] = std::string(kMaxVariableBytes - 2, 'x');
  }
  EXPECT_EQ(refused(machine(many)), "v64");
  EXPECT_EQ(refused(machine(large)), "v04");
}

TEST_F(ModuleVariables, OneWithoutADefaultMustBeGiven) {
  Json database = {{"name", "d"}, {"engine", "postgres"}, {"provider", "aws"}};
  EXPECT_EQ(refused(database, "clouddb:provision"), "storage_gb");
  database["storage_gb"] = 20;
  auto job = must(submit(database, "clouddb:provision")).jobs.at(0);
  EXPECT_EQ(job.request["variables"], Json({{"storage_gb", 20}}));
  EXPECT_EQ(job.request["engine"], "postgres");
}

TEST_F(ModuleVariables, AnItemsOwnValueReplacesTheSharedOne) {
  Json body = {
      {"image", "i"}, {"disk_gb", 10}, {"items", {{{"name", "a"}}, {{"name", "b"}, {"disk_gb", 20}}}}};
  auto jobs = must(submit(body, "cloud1:vm:deploy", true)).jobs;
  EXPECT_EQ(jobs.at(0).request["variables"]["disk_gb"], 10);
  EXPECT_EQ(jobs.at(1).request["variables"]["disk_gb"], 20);
}

TEST_F(ModuleVariables, AreCoveredByTheApproval) {
  set("change_approval_required", "true");
  auto digest = [&](int gb) {
    return must(submit(machine({{"disk_gb", gb}, {"run_at", "2026-07-04T10:00"}})))
        .jobs.at(0)
        .approval_digest;
  };
  EXPECT_EQ(digest(10), digest(10));
  EXPECT_NE(digest(10), digest(11));
}

}  // namespace
}  // namespace dash::jobs
