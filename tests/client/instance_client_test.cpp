// One suite over both implementations of the instance client: over the API of a server in this process, and on the
// data folder below it. What one writes the other reads, as the same document.
#include "core/client/instance_client.hpp"

#include "cmd/cli/instance.hpp"
#include "core/jobs/jobs.hpp"
#include "tests/daemon/whole_instance.hpp"
#include "tests/support/policy_folder.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::client {
namespace {

// The operator at the shell, under the name of an account, so that both ways leave the same names behind.
Principal operator_named(const std::string& username, bool is_admin) {
  auto out = local_operator();
  out.username = username;
  out.is_admin = is_admin;
  return out;
}

// The instance starts its engine from this variable.
struct EngineVariable {
  EngineVariable() { ::setenv("POLICY_BINARY", policy::real_engine().c_str(), /*overwrite=*/1); }
};

enum class Way { http, local };

class InstanceClientContract : public testing::TestWithParam<Way> {
 protected:
  InstanceClientContract() {
    whole_.add_user("root", /*is_admin=*/true);
    whole_.serve();
    api_ = std::make_unique<net::ApiClient>(must(net::ApiClient::open(
        *curl_, {.url = fmt::format("http://127.0.0.1:{}", whole_.port()), .trust = {}})));
    must(api_->login("root", Secret("correct horse")));
    http_ = open_http_instance_client(*api_);
    local_ = cmd::open_local_instance_client(whole_.application(), operator_named("root", true),
                                             whole_.scratch / "data");
  }

  bool is_http() const { return GetParam() == Way::http; }
  const InstanceClient& client() const { return is_http() ? http_ : local_; }
  const InstanceClient& other() const { return is_http() ? local_ : http_; }
  void set(const std::string& key, const std::string& value) {
    must(client().config->change({{key, value}}, {}));
  }
  // Documents are printed with their members sorted.
  static Json sorted(const Result<OrderedJson>& document) { return Json(must(document)); }

  template <typename T>
  static Code code_of(const Result<T>& result) {
    if (!result) return result.error().code;
    ADD_FAILURE() << "it did not fail";
    return Code::internal;
  }

  EngineVariable engine_variable_;
  daemon::WholeInstance whole_;
  std::unique_ptr<net::HttpClient> curl_ = net::make_curl_client();
  std::unique_ptr<net::ApiClient> api_;
  InstanceClient http_, local_;
};

TEST_P(InstanceClientContract, AddsChangesAndListsUsers) {
  auto& users = *client().users;
  auto added = must(users.add({"Alice", Secret("correct horse"), false, {"jobs:read"}, {"web"}}));
  EXPECT_EQ(added.at("username"), "alice");
  EXPECT_EQ(added.at("workgroups"), OrderedJson::array({"web"}));
  identity::UserChange change;
  change.grant = {"change_windows:use"};
  change.ungrant = {"jobs:read"};
  change.is_active = false;
  auto changed = must(users.change("alice", change));
  EXPECT_EQ(changed.at("permissions"), (OrderedJson{{"change_windows", {"use"}}}));
  EXPECT_EQ(changed.at("is_active"), false);
  auto listed = sorted(users.list());
  EXPECT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed, sorted(other().users->list()));
  EXPECT_EQ(code_of(users.change("nobody", change)), Code::not_found);
  EXPECT_EQ(code_of(users.add({"alice", Secret("correct horse"), false, {}, {}})), Code::conflict);
}

TEST_P(InstanceClientContract, KnowsWhoIsSignedInAndSetsAPassword) {
  auto& users = *client().users;
  EXPECT_EQ(must(users.signed_in_name()), is_http() ? std::optional<std::string>("root") : std::nullopt);
  whole_.add_user("bob", false);
  identity::UserChange change;
  change.password = Secret("another horse");
  EXPECT_EQ(must(users.change("bob", change)).at("username"), "bob");
  EXPECT_TRUE(whole_.application().accounts.sign_in({"bob", Secret("another horse"), "127.0.0.1", ""}));
  if (is_http()) {  // one's own needs the current one; the operator resets it
    EXPECT_EQ(code_of(users.change("root", change)), Code::validation);
  }
  change.current_password = Secret("correct horse");
  EXPECT_EQ(must(users.change("root", change)).at("username"), "root");
}

TEST_P(InstanceClientContract, IssuesListsAndRevokesTokens) {
  auto& tokens = *client().tokens;
  auto issued = must(tokens.issue({"nightly", "root", 7}));
  EXPECT_TRUE(identity::is_personal_access_token(issued.at("token").get<std::string>()));
  EXPECT_TRUE(issued.at("expires_at").is_string());
  auto listed = sorted(tokens.list("root"));
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].at("name"), "nightly");
  EXPECT_EQ(listed, sorted(other().tokens->list("root")));
  auto id = issued.at("id").get<std::string>();
  must(tokens.revoke(id));
  EXPECT_EQ(must(tokens.list("root"))[0].at("is_active"), false);
  EXPECT_EQ(code_of(tokens.revoke("none/such")), Code::not_found);
}

TEST_P(InstanceClientContract, ATokenWithoutANameIsOnesOwnOrNobodys) {
  auto issued = client().tokens->issue({"mine", "", 0});
  if (is_http())
    EXPECT_EQ(must(issued).at("username"), "root");
  else
    EXPECT_EQ(code_of(issued), Code::usage);
}

TEST_P(InstanceClientContract, RegistersAndRemovesVaults) {
  auto& vaults = *client().vaults;
  EXPECT_EQ(must(vaults.add("team+a", "azure_kv")).at("backend"), "azure_kv");
  must(vaults.add("team-b", "aws_sm"));
  auto listed = sorted(vaults.list());
  EXPECT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed, sorted(other().vaults->list()));
  EXPECT_EQ(code_of(vaults.add("team-b", "aws_sm")), Code::conflict);
  EXPECT_EQ(code_of(vaults.add("team-c", "no_such")), Code::invalid);
  EXPECT_EQ(code_of(vaults.remove("team-b", "azure_kv")), Code::not_found);
  must(vaults.remove("team-b", "aws_sm"));
  must(vaults.remove("team+a", ""));
  EXPECT_EQ(sorted(vaults.list()), Json::array());
}

TEST_P(InstanceClientContract, ReadsAndChangesSettings) {
  auto& config = *client().config;
  auto changed = must(config.change({{"approval_expiry_hours", "24"}, {"cloud1_secret_key", "s3cret"}}, {}));
  EXPECT_FALSE(changed.change_id.value_or("").empty());
  EXPECT_TRUE(changed.iac_state_left.empty());
  EXPECT_EQ(must(config.change({{"approval_expiry_hours", "24"}}, {})).change_id, "");
  auto values = must(config.read());
  EXPECT_EQ(values.at("approval_expiry_hours"), "24");
  EXPECT_NE(values.at("cloud1_secret_key"), "s3cret");
  EXPECT_EQ(values, must(other().config->read()));
  must(config.change({{"approval_expiry_hours", std::nullopt}}, {}));
  EXPECT_FALSE(must(config.read()).contains("approval_expiry_hours"));
  if (is_http())
    EXPECT_EQ(code_of(config.read_revealed()), Code::usage);
  else
    EXPECT_EQ(must(config.read_revealed()).at("cloud1_secret_key"), "s3cret");
}

TEST_P(InstanceClientContract, ListsTheHistoryOfSettings) {
  set("approval_expiry_hours", "24");
  set("approval_expiry_hours", "48");
  set("cloud_names", "canonical");
  auto& config = *client().config;
  auto history = sorted(config.history("approval_expiry_hours", 50));
  EXPECT_EQ(history.size(), 2u);
  EXPECT_EQ(history, sorted(other().config->history("approval_expiry_hours", 50)));
  EXPECT_EQ(must(config.history("", 50)).size(), 3u);
  EXPECT_EQ(must(config.history("", 1))[0].at("key"), "cloud_names");
}

class JobClientContract : public InstanceClientContract {
 protected:
  JobClientContract() {
    set("change_approval_required", "true");
    whole_.add_user("alice", false);
  }
  // A deploy that waits for its approval.
  std::string submit() {
    Json body{{"region", "us-east-1"},
              {"instance_type", "t3.large"},
              {"image", "ami-1"},
              {"name", "web"},
              {"run_at", in_days(1)}};
    return must(whole_.application().jobs.submit(operator_named("alice", false),
                                                 {"cloud1:vm:deploy", body, ""}))
        .jobs.at(0)
        .id;
  }
  // YYYY-MM-DDTHH:MM
  static std::string in_days(int days) {
    return format_iso(SystemClock().now() + std::chrono::days(days)).substr(0, 16);
  }
  JobClient& jobs() const { return *client().jobs; }
};

TEST_P(JobClientContract, ListsAndShowsJobs) {
  auto id = submit();
  std::ignore = submit();
  jobs::JobQuery query;
  query.states = {jobs::State::awaiting_approval, jobs::State::running};
  query.page_size = 1;
  auto page = sorted(jobs().list(query));
  EXPECT_EQ(page.at("total"), 2);
  EXPECT_EQ(page.at("jobs").size(), 1u);
  EXPECT_EQ(page, sorted(other().jobs->list(query)));
  query.workgroup = "none & such";
  EXPECT_EQ(must(jobs().list(query)).at("total"), 0);
  auto job = sorted(jobs().show(id));
  EXPECT_EQ(job.at("status"), "awaiting_approval");
  EXPECT_EQ(job, sorted(other().jobs->show(id)));
  EXPECT_EQ(sorted(jobs().logs(id, 0)), (Json{{"logs", Json::array()}}));
  EXPECT_EQ(code_of(jobs().show("none/such")), Code::not_found);
}

TEST_P(JobClientContract, ApprovesByDigest) {
  auto id = submit();
  EXPECT_EQ(code_of(jobs().approve(id, jobs::ApprovalKind::all, "another")), Code::conflict);
  auto digest = must(jobs().show(id)).at("approval_digest").get<std::string>();
  auto approved = must(jobs().approve(id, jobs::ApprovalKind::booking, digest));
  EXPECT_EQ(approved.at("status"), "scheduled");
  EXPECT_EQ(approved.at("already"), false);
  EXPECT_EQ(must(jobs().approve(id, jobs::ApprovalKind::all, {})).at("already"), true);
}

TEST_P(JobClientContract, RejectsReschedulesAndCancels) {
  auto rejected = must(jobs().reject(submit(), "not now", {}));
  EXPECT_EQ(rejected.at("status"), "rejected");
  EXPECT_EQ(Json(rejected), sorted(other().jobs->show(rejected.at("id").get<std::string>())));
  auto id = submit();
  auto moved = must(
      jobs().reschedule(id, {{"run_at", in_days(2)}, {"run_timezone", "UTC"}, {"change_window_id", ""}}));
  EXPECT_EQ(moved.at("job_id"), id);
  EXPECT_EQ(must(jobs().show(id)).at("scheduled_for").get<std::string>().substr(0, 16), in_days(2));
  auto cancelled = must(jobs().cancel(id));
  EXPECT_EQ(cancelled.at("job_id"), id);
  EXPECT_EQ(cancelled.at("status"), "cancelled");
}

TEST_P(InstanceClientContract, VerifiesProvesAndExportsTheAuditLog) {
  set("approval_expiry_hours", "24");
  auto& audit = *client().audit;
  auto verdict = sorted(audit.verify(""));
  EXPECT_EQ(verdict.at("ok"), true);
  EXPECT_EQ(verdict, sorted(other().audit->verify("")));
  // A proof names its second, which may end between two of them.
  auto prove_both = [&](auto prove) {
    std::pair<Json, Json> both;
    for (int attempt = 0; attempt < 3 && (attempt == 0 || both.first != both.second); ++attempt)
      both = {sorted(prove(audit)), sorted(prove(*other().audit))};
    EXPECT_EQ(both.first, both.second);
  };
  prove_both([](AuditClient& from) { return from.prove_inclusion(2); });
  EXPECT_EQ(must(audit.prove_inclusion(2)).at("kind"), "inclusion");
  prove_both([](AuditClient& from) { return from.prove_consistency(1); });
  EXPECT_EQ(code_of(audit.prove_inclusion(10'000)), Code::not_found);
  auto exported = [](AuditClient& from) {
    std::vector<std::string> lines;
    must(from.export_lines([&](std::string_view line) -> Result<void> {
      lines.emplace_back(line);
      return {};
    }));
    return lines;
  };
  auto lines = exported(audit);
  EXPECT_EQ(lines.size(), verdict.at("count").get<std::size_t>());
  EXPECT_EQ(lines, exported(*other().audit));
}

TEST_P(InstanceClientContract, TheExportEndsWithItsReader) {
  auto ended = client().audit->export_lines(
      [](std::string_view) -> Result<void> { return fail(Code::interrupted, "enough"); });
  EXPECT_EQ(code_of(ended), Code::interrupted);
}

class PolicyClientContract : public InstanceClientContract {
 protected:
  PolicyClientContract() {
    set("admission_control_enabled", "true");
    set("admission_gated_actions", "cloud1:vm:deploy");
    set("admission_allowed_regions", "us-east-1");
  }
  static PolicyQuery deploy_to(const std::string& region) {
    PolicyQuery out;
    out.action = "cloud1:vm:deploy";
    out.request = {{"region", region}, {"instance_type", "t3.large"}, {"image", "ami-1"}, {"name", "web"}};
    out.actor.username = "root";
    out.actor.is_admin = true;
    out.at = must(parse_iso("2026-07-03T14:00:00Z"));
    return out;
  }
  PolicyClient& policy() const { return *client().policy; }
};

TEST_P(PolicyClientContract, ChecksARequest) {
  EXPECT_EQ(must(policy().check(deploy_to("us-east-1"))).at("verdict"), "allow");
  auto denied = must(policy().check(deploy_to("eu-west-1")));
  EXPECT_EQ(denied.at("verdict"), "deny");
  EXPECT_EQ(denied.at("reasons"), must(other().policy->check(deploy_to("eu-west-1"))).at("reasons"));
  auto ungated = deploy_to("eu-west-1");
  ungated.action = "cloud2:vm:deploy";
  EXPECT_EQ(must(policy().check(ungated)).at("gated"), false);
}

TEST_P(PolicyClientContract, FindsTheNextAdmission) {
  auto answer = sorted(policy().find_next_admission(deploy_to("us-east-1")));
  EXPECT_EQ(must(parse_iso(answer.at("admitted_at").get<std::string>())), deploy_to("").at);
  EXPECT_EQ(answer, sorted(other().policy->find_next_admission(deploy_to("us-east-1"))));
}

// Over HTTP a build of the engine is waited for a second at most.
TEST_P(PolicyClientContract, ListsProblemsOfTheRules) {
  EXPECT_TRUE(must(policy().lint()).empty());
  std::ofstream(whole_.scratch / "data/policy/mine.rego")
      << "package admission.other\n\ndeny[\"no\"] { true }\n";
  auto is_listed = [&] {
    auto problems = must(policy().lint());
    return std::ranges::any_of(problems, [](const auto& p) { return p.file.ends_with("mine.rego"); });
  };
  EXPECT_TRUE(wait_until(is_listed));
}

TEST_P(PolicyClientContract, OnlyADataFolderTakesOtherSettingsAndRunsTests) {
  auto replaced = policy().use_settings({{"admission_allowed_regions", "eu-west-1"}});
  if (is_http()) {
    EXPECT_EQ(code_of(replaced), Code::usage);
    EXPECT_EQ(code_of(policy().run_tests()), Code::usage);
    return;
  }
  EXPECT_EQ(must(policy().check(deploy_to("eu-west-1"))).at("verdict"), "allow");
  EXPECT_EQ(must(policy().run_tests()).failed, 0u);
}

TEST_P(InstanceClientContract, ListsBackendsAndAssets) {
  auto& storage = *client().storage;
  EXPECT_EQ(must(storage.backends()), must(other().storage->backends()));
  EXPECT_EQ(code_of(storage.list("no_such", "")), code_of(other().storage->list("no_such", "")));
}

std::string name_of(const testing::TestParamInfo<Way>& info) {
  return info.param == Way::http ? "Http" : "Local";
}
const auto kBothWays = testing::Values(Way::http, Way::local);
INSTANTIATE_TEST_SUITE_P(BothWays, InstanceClientContract, kBothWays, name_of);
INSTANTIATE_TEST_SUITE_P(BothWays, JobClientContract, kBothWays, name_of);
INSTANTIATE_TEST_SUITE_P(BothWays, PolicyClientContract, kBothWays, name_of);

}  // namespace
}  // namespace dash::client
