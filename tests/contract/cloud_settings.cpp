#include "tests/contract/cloud_settings.hpp"

#include <stdexcept>

#include "core/base/file.hpp"
#include "core/base/json.hpp"
#include "core/net/http/http_date.hpp"
#include "core/storage/store/gcs/client.hpp"
#include "core/storage/store/oci/sign.hpp"
#include "tests/contract/stores_under_test.hpp"
#include "tests/support/must.hpp"

namespace dash::storage {
namespace {

std::string file_of(const char* variable) { return must(read_file(need_variable(variable), 1 << 16)); }

}  // namespace

config::Values azure_settings() {
  auto endpoint = need_variable("AZURE_BLOB_ENDPOINT");  // with the account behind it
  return {{"storage_obj_cloud2_account", need_variable("AZURE_STORAGE_ACCOUNT")},
          {"storage_obj_cloud2_account_key", need_variable("AZURE_STORAGE_KEY")},
          {"storage_obj_cloud2_container", "contract"},
          {"storage_obj_cloud2_endpoint", endpoint.substr(0, endpoint.rfind('/'))},
          {"storage_obj_cloud2_path_style", "true"}};
}
config::Values azure_oauth_settings() {
  return {{"storage_obj_cloud2_account", need_variable("AZURE_OAUTH_ACCOUNT")},
          {"storage_obj_cloud2_container", "contract"},
          {"storage_obj_cloud2_endpoint", need_variable("AZURE_OAUTH_ENDPOINT")},
          {"storage_obj_cloud2_path_style", "true"},
          {"storage_obj_cloud2_ca_file", need_variable("AZURE_OAUTH_CA_BUNDLE")},
          {"cloud2_authority_host", need_variable("AZURE_OAUTH_AUTHORITY")},
          {"cloud2_tenant_id", need_variable("AZURE_OAUTH_TENANT")},
          {"cloud2_client_id", need_variable("AZURE_OAUTH_CLIENT_ID")},
          {"cloud2_client_secret", need_variable("AZURE_OAUTH_CLIENT_SECRET")}};
}
config::Values azure_with_wrong_secret(config::Values settings) {
  settings["cloud2_client_secret"] += "x";
  return settings;
}
void prepare_nothing(const config::Values&, const StoreDeps&) {}
config::Values azure_with_wrong_key(config::Values settings) {
  settings["storage_obj_cloud2_account_key"] = "d3JvbmctYnV0LW9mLXRoZS1yaWdodC1sZW5ndGgtMDA=";
  return settings;
}

config::Values gcs_settings() {
  return {{"storage_obj_cloud3_bucket", "contract"},
          {"storage_obj_cloud3_endpoint", need_variable("GCS_ENDPOINT")},
          {"cloud3_service_account_json", file_of("GOOGLE_APPLICATION_CREDENTIALS")}};
}
void make_gcs_bucket(const config::Values& settings, const StoreDeps& deps) {
  auto client = must(gcs::open_client(settings, deps.http, deps.clock));
  auto body = fmt::format(R"({{"name":"{}"}})", settings.at("storage_obj_cloud3_bucket"));
  auto made = client.execute({.what = "making the bucket",
                              .method = "POST",
                              .target = "/storage/v1/b?project=test-project",
                              .headers = {{"Content-Type", "application/json"}},
                              .body = body});
  if (!made && made.error().code != Code::conflict) must(std::move(made));  // conflict: there already
}
config::Values gcs_with_wrong_key(config::Values settings) {
  auto account = must(parse_json(settings["cloud3_service_account_json"]));
  account["private_key"] = file_of("OCI_KEY_FILE");
  settings["cloud3_service_account_json"] = dump_json(account);
  return settings;
}

config::Values oci_settings() {
  return {{"storage_obj_cloud4_bucket", "contract"},
          {"storage_obj_cloud4_endpoint", need_variable("OCI_ENDPOINT")},
          {"cloud4_tenancy_ocid", need_variable("OCI_TENANCY")},
          {"cloud4_user_ocid", need_variable("OCI_USER")},
          {"cloud4_fingerprint", need_variable("OCI_FINGERPRINT")},
          {"cloud4_private_key", file_of("OCI_KEY_FILE")}};
}
void make_oci_bucket(const config::Values& settings, const StoreDeps& deps) {
  auto credentials = must(oci::read_credentials(
      settings.at("cloud4_tenancy_ocid"), settings.at("cloud4_user_ocid"), settings.at("cloud4_fingerprint"),
      Secret(settings.at("cloud4_private_key")), Secret()));
  const auto& endpoint = settings.at("storage_obj_cloud4_endpoint");
  auto target = fmt::format("/n/{}/b", need_variable("OCI_NAMESPACE"));
  auto body = fmt::format(R"({{"name":"{}","compartmentId":"{}"}})", settings.at("storage_obj_cloud4_bucket"),
                          need_variable("OCI_COMPARTMENT"));
  net::HttpRequest request;
  request.method = "POST";
  request.url = endpoint + target;
  request.body = body;
  request.headers = oci::sign(credentials, {"POST", target, endpoint.substr(endpoint.find("://") + 3), body},
                              net::format_http_date(deps.clock.now()));
  auto made = must(deps.http.send(request));
  if (!made.ok() && made.status != 409) throw std::runtime_error(made.body);
}
config::Values oci_with_wrong_user(config::Values settings) {
  settings["cloud4_user_ocid"] += "x";
  return settings;
}

}  // namespace dash::storage
