#include "core/deploy/credentials.hpp"

#include <fmt/format.h>

namespace dash::deploy {
namespace {

class Panel {
 public:
  Panel(std::string_view cloud, const config::Values& values) : cloud_(cloud), values_(values) {}
  std::string operator[](std::string_view field) const {
    auto found = values_.find(fmt::format("{}_{}", cloud_, field));
    return found == values_.end() ? std::string() : found->second;
  }

 private:
  std::string cloud_;
  const config::Values& values_;
};

void add_variable(Credentials& out, std::string_view name, const std::string& value) {
  if (!value.empty()) out.environment.push_back(fmt::format("{}={}", name, value));
}

// Writes a file of which the variable `name` has the path.
void add_file(Credentials& out, std::string_view name, const std::string& home, std::string path,
              std::string text) {
  add_variable(out, name, home + "/" + path);
  out.files.push_back({std::move(path), std::move(text)});
}

void add_aws(Credentials& out, const Panel& panel, const std::string& home) {
  add_variable(out, "AWS_REGION", panel["region"]);
  auto key = panel["access_key_id"], secret = panel["secret_access_key"];
  if (key.empty() || secret.empty()) return;
  add_file(out, "AWS_SHARED_CREDENTIALS_FILE", home, "aws_credentials",
           fmt::format("[default]\naws_access_key_id = {}\naws_secret_access_key = {}\n", key, secret));
  out.secrets = {secret};
}

void add_azure(Credentials& out, const Panel& panel, const std::string& home) {
  add_variable(out, "ARM_SUBSCRIPTION_ID", panel["subscription_id"]);
  add_variable(out, "ARM_TENANT_ID", panel["tenant_id"]);
  add_variable(out, "ARM_CLIENT_ID", panel["client_id"]);
  auto secret = panel["client_secret"];
  if (secret.empty()) return;
  add_file(out, "ARM_CLIENT_SECRET_FILE_PATH", home, "azure_client_secret", secret);
  out.secrets = {secret};
}

void add_google(Credentials& out, const Panel& panel, const std::string& home) {
  add_variable(out, "GOOGLE_PROJECT", panel["project_id"]);
  add_variable(out, "GOOGLE_REGION", panel["region"]);
  add_variable(out, "GOOGLE_ZONE", panel["zone"]);
  auto account = panel["service_account_json"];
  if (account.empty()) account = panel["credentials_json"];
  if (account.empty()) return;
  add_file(out, "GOOGLE_APPLICATION_CREDENTIALS", home, "google_credentials.json", account);
  out.secrets = {account};
}

// The provider reads ~/.oci/config.
void add_oracle(Credentials& out, const Panel& panel, const std::string& home) {
  auto key = panel["private_key"];
  if (key.empty()) return;
  auto passphrase = panel["private_key_passphrase"];
  auto config =
      fmt::format("[DEFAULT]\nuser={}\nfingerprint={}\ntenancy={}\nregion={}\nkey_file={}/.oci/key.pem\n",
                  panel["user_ocid"], panel["fingerprint"], panel["tenancy_ocid"], panel["region"], home);
  if (!passphrase.empty()) config += "pass_phrase=" + passphrase + "\n";
  out.files = {{".oci/config", config}, {".oci/key.pem", key}};
  out.secrets = {key, passphrase};
}

}  // namespace

Credentials cloud_credentials(std::string_view cloud, const config::Values& values, const std::string& home) {
  Credentials out;
  Panel panel(cloud, values);
  if (cloud == "cloud1") add_aws(out, panel, home);
  if (cloud == "cloud2") add_azure(out, panel, home);
  if (cloud == "cloud3") add_google(out, panel, home);
  if (cloud == "cloud4") add_oracle(out, panel, home);
  return out;
}

}  // namespace dash::deploy
