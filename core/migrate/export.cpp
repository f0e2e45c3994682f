#include "core/migrate/export.hpp"

#include <algorithm>

#include "core/config/exclusion.hpp"
#include "core/config/masking.hpp"
#include "core/config/registry.hpp"
#include "core/config/vault_reference.hpp"
#include "core/crypto/hash.hpp"

namespace dash::migrate {
namespace {

constexpr std::size_t kFingerprintKeyBytes = 32;

// A Python dashboard that cannot open its own store serves the sealed text: Fernet, base64url of a version
// byte, an 8-byte time whose first four bytes are zero until 2106, and at least 64 bytes more.
bool is_peer_ciphertext(std::string_view value) {
  constexpr std::size_t kMinBytes = 100;
  return value.size() >= kMinBytes && value.starts_with("gAAAAA") &&
         value.find_first_of(" {\n") == value.npos;
}

Result<void> refuse_ciphertext(const config::Values& values) {
  std::vector<std::string> sealed;
  for (const auto& [key, value] : values)
    if (is_peer_ciphertext(value)) sealed.push_back(key);
  if (sealed.empty()) return {};
  return fail(Code::integrity,
              "the source cannot open its own store (is its signing key the one that the values were written "
              "with?); {} keys are "
              "ciphertext: {}",
              sealed.size(), fmt::join(sealed, ", "));
}

class Exporter {
 public:
  explicit Exporter(bool include_on_prem) : include_on_prem_(include_on_prem) {}

  void add(const std::string& key, const std::string& value) {
    if (auto cloud = config::cloud_of_region_blob(key)) return add_regions(*cloud, key, value);
    if (auto parts = config::split_region_key(key)) return add_field(*parts, value);
    auto reason = config::exclusion_reason(key, value);
    if (reason == config::Exclusion::on_prem && include_on_prem_) reason.reset();
    if (reason) {
      out_.bundle.excluded[key] = config::word(*reason);
    } else if (config::is_masked(value)) {
      exclude_masked(key);
    } else {
      include(key, value);
    }
  }

  ExportResult finish() { return std::move(out_); }

 private:
  void include(const std::string& key, const std::string& value) {
    bool is_reference = !config::vault_scheme(value).empty();
    bool is_secret = config::is_secret(key) || config::is_secret_value(key, value);
    out_.bundle.config[key] = value;
    out_.bundle.annotations[key] = {is_secret, is_reference || config::is_vault_pointer(key), false};
    if (config::is_secret_value(key, value)) out_.findings.in_clear.push_back(key);
  }

  void add_regions(const std::string& cloud, const std::string& key, const std::string& value) {
    auto map = config::parse_region_blob(cloud, value);
    if (!map) {
      out_.bundle.excluded[key] = "malformed_region_set";
      out_.findings.malformed.push_back(key);
      return;
    }
    for (const auto& [region, fields] : *map)
      for (const auto& [field, text] : fields) add_field({cloud, region, field}, text);
  }

  void add_field(const config::RegionKey& parts, const std::string& value) {
    auto key = config::region_key(parts.cloud, parts.region, parts.field);
    if (config::is_masked(value)) return exclude_masked(key);
    config::set_region_field(out_.bundle.regions[parts.cloud], parts, value);
    if (!config::is_secret_value(key, value)) return;
    out_.bundle.annotations[key] = {true, false, false};
    out_.findings.in_clear.push_back(key);
  }

  void exclude_masked(const std::string& key) {
    out_.bundle.excluded[key] = "masked";
    out_.bundle.annotations[key] = {true, false, true};
    out_.findings.masked.push_back(key);
  }

  bool include_on_prem_;
  ExportResult out_;
};

}  // namespace

Result<ExportResult> make_bundle(const config::Values& values, std::vector<setup::FullWebhook> webhooks,
                                 const ExportOptions& options, const Clock& clock) {
  TRY(refuse_ciphertext(values));
  Exporter exporter(options.include_on_prem);
  for (const auto& [key, value] : values) exporter.add(key, value);
  auto out = exporter.finish();
  out.bundle.webhooks = std::move(webhooks);
  out.bundle.meta = {options.source, format_iso(clock.now()), options.method,
                     Secret(crypto::random_bytes(kFingerprintKeyBytes))};
  return out;
}

}  // namespace dash::migrate
