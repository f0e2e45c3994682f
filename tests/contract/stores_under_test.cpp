#include "tests/contract/stores_under_test.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>

#include "core/agent/remote/job_reports.hpp"
#include "core/agent/remote/storage_jobs.hpp"
#include "core/base/file.hpp"
#include "core/storage/store/agent/store.hpp"
#include "core/storage/store/s3/client.hpp"
#include "core/storage/store/smb/share_tree.hpp"
#include "tests/contract/cloud_settings.hpp"
#include "tests/support/agent_world.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::storage {
namespace {

config::Values s3_settings() {
  return {{"storage_obj_cloud1_bucket", "contract"},
          {"storage_obj_cloud1_endpoint", need_variable("S3_ENDPOINT")},
          {"storage_obj_cloud1_region", need_variable("AWS_REGION")},
          {"cloud1_access_key_id", need_variable("AWS_ACCESS_KEY_ID")},
          {"cloud1_secret_access_key", need_variable("AWS_SECRET_ACCESS_KEY")}};
}

void make_s3_bucket(const config::Values& settings, const StoreDeps& deps) {
  s3::Credentials credentials{settings.at("cloud1_access_key_id"),
                              Secret(settings.at("cloud1_secret_access_key"))};
  s3::Client client(must(s3::read_address(settings)), credentials, deps.http, deps.clock);
  auto made = client.call({.method = "PUT", .doing = "making the bucket"});
  if (!made && made.error().code != Code::conflict) must(std::move(made));  // conflict: there already
}

config::Values s3_with_wrong_secret(config::Values settings) {
  settings["cloud1_secret_access_key"] += "x";
  return settings;
}

config::Values folder_settings() {
  static Scratch scratch;
  return {{"storage_local_path", scratch / "assets"}};
}
void make_folder_root(const config::Values& settings, const StoreDeps&) {
  must(make_folder(settings.at("storage_local_path"), 0750));
}

config::Values smb_settings() {
  return {{"storage_local_path",
           fmt::format("\\\\{}\\{}\\contract", need_variable("SMB_HOST"), need_variable("SMB_SHARE"))},
          {"storage_local_port", need_variable("SMB_PORT")},
          {"storage_local_username", "WORKGROUP\\" + need_variable("SMB_USER")},
          {"storage_local_password", need_variable("SMB_PASS")}};
}
void make_smb_root(const config::Values& settings, const StoreDeps&) {
  must(smb::open_share_tree(must(smb::read_share(settings)))->make_folder(""));
}

constexpr std::array kStores{
    StoreUnderTest{"obj_cloud1", "obj_cloud1", s3_settings, make_s3_bucket, s3_with_wrong_secret,
                   "storage_obj_cloud1_endpoint"},
    // Azurite checks no date.
    StoreUnderTest{"obj_cloud2", "obj_cloud2", azure_settings, prepare_nothing, azure_with_wrong_key,
                   "storage_obj_cloud2_endpoint", false},
    StoreUnderTest{"obj_cloud2_oauth", "obj_cloud2", azure_oauth_settings, prepare_nothing,
                   azure_with_wrong_secret, "storage_obj_cloud2_endpoint", false},
    StoreUnderTest{"obj_cloud3", "obj_cloud3", gcs_settings, make_gcs_bucket, gcs_with_wrong_key,
                   "storage_obj_cloud3_endpoint"},
    StoreUnderTest{"obj_cloud4", "obj_cloud4", oci_settings, make_oci_bucket, oci_with_wrong_user,
                   "storage_obj_cloud4_endpoint"},
    StoreUnderTest{"smb", "local", smb_settings, make_smb_root, nullptr, ""},
    StoreUnderTest{"folder", "local", folder_settings, make_folder_root, nullptr, ""},
};
constexpr std::size_t kClouds = 5;  // the first so many

// The queue of a dashboard, and an agent of this process that leases from it and carries the jobs out on a folder.
// No share of it needs a secret, so that its client of the dashboard sends nothing.
class SharingAgent {
 public:
  SharingAgent() {
    policy_.has_storage = true;
    policy_.shares = {{"lab", true}};
    agent_ = std::make_unique<dash::agent::ScriptedAgent>(replica_.jobs, world_.add_agent("contract"),
                                                          [this](const Json& job) { return carry_out(job); });
  }
  dash::agent::RemoteShare::Deps deps() {
    return {replica_.jobs, replica_.listings, replica_.under_way, replica_.callers};
  }

 private:
  static dash::agent::Settings make_settings(const Scratch& scratch) {
    must(make_folder(scratch / "share", 0700));
    dash::agent::Settings settings;
    settings.state_folder = scratch / "state";
    settings.policy_file = scratch / "policy.yaml";
    settings.shares_file = scratch / "shares.yaml";
    must(write_file(settings.shares_file,
                    fmt::format("shares: [{{name: lab, path: {}/share}}]\n", scratch.path()), 0600));
    return settings;
  }
  dash::agent::Completion carry_out(const Json& job) {
    dash::agent::JobContext context;
    auto result = jobs_.run(
        {.id = job.at("job_id"), .type = job.at("job_type"), .payload = job.at("payload")}, context);
    return dash::agent::completion_of(result, context);
  }
  Scratch scratch_;
  SystemClock clock_;
  std::unique_ptr<net::HttpClient> http_ = net::make_curl_client();
  dash::agent::AgentWorld world_;
  dash::agent::AgentReplica replica_{world_};
  const dash::agent::Settings settings_ = make_settings(scratch_);
  dash::agent::Policy policy_;
  dash::agent::Identity identity_;
  dash::agent::DashboardClient client_{*http_, clock_, identity_, {}};
  dash::agent::StorageJobs jobs_{settings_, policy_, client_, clock_, "/proc/self/exe"};
  std::unique_ptr<dash::agent::ScriptedAgent> agent_;
};

config::Values share_settings() {
  return {{"storage_agent_id", "contract"}, {"storage_agent_share", "lab"}, {"storage_agent_subpath", ""}};
}
std::unique_ptr<ObjectStore> open_share(const config::Values& values) {
  static SharingAgent sharing;
  auto settings = agent::read_share_settings(values);
  return agent::make_agent_store(settings,
                                 std::make_unique<dash::agent::RemoteShare>(sharing.deps(), settings));
}

}  // namespace

std::span<const StoreUnderTest> all_stores() { return kStores; }
std::vector<StoreUnderTest> all_stores_and_shares() {
  std::vector<StoreUnderTest> stores(kStores.begin(), kStores.end());
  stores.push_back({.name = "agent",
                    .backend = "agent_local",
                    .settings = share_settings,
                    .prepare = prepare_nothing,
                    .with_wrong_credentials = nullptr,
                    .endpoint_key = "",
                    .checks_clock = false,
                    .is_flat = true,
                    .open = open_share});
  return stores;
}
std::span<const StoreUnderTest> cloud_stores() { return std::span(kStores).first(kClouds); }
std::vector<StoreUnderTest> clock_checking_stores() {
  std::vector<StoreUnderTest> stores;
  std::ranges::copy_if(cloud_stores(), std::back_inserter(stores), &StoreUnderTest::checks_clock);
  return stores;
}

std::string need_variable(const char* name) {
  const char* value = std::getenv(name);
  if (!value || !*value)
    throw std::runtime_error(fmt::format("{} is not set: scripts/test starts the servers and sets it", name));
  return value;
}

}  // namespace dash::storage
