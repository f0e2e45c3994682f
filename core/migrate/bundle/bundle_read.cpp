#include <algorithm>
#include <array>

#include "core/base/text.hpp"
#include "core/config/clouds.hpp"
#include "core/crypto/hash.hpp"
#include "core/migrate/bundle/bundle.hpp"
#include "core/setup/import_body.hpp"

namespace dash::migrate {
namespace {

constexpr std::size_t kMinFingerprintKey = 16;
constexpr std::array<std::string_view, 7> kMembers = {
    "schema", "meta", "config", "regions", "notification_endpoints", "excluded", "annotations"};

class Reader {
 public:
  Reader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Result<Bundle> read() {
    auto document = parse_json(text_, [this](std::string_view section, const std::string& name, Json& value) {
      return take(section, name, value);
    });
    if (!document) return bad("is cut or damaged: " + document.error().message);
    document_ = *std::move(document);
    if (!document_.is_object()) return bad("is not a JSON object");
    TRY(check_schema());
    TRY(read_config());
    TRY(read_regions());
    TRY(read_webhooks());
    TRY(read_excluded());
    TRY(section("annotations", Json::value_t::object));
    bundle_.digest = digest_of(bundle_);
    TRY(read_meta());
    for (const auto& [name, value] : document_.items())
      if (std::ranges::find(kMembers, name) == kMembers.end())
        add_note(fmt::format("the section '{}' means nothing and is left out", name));
    return std::move(bundle_);
  }

 private:
  Failure bad(std::string_view reason) const {
    return fail(Code::integrity, "the bundle {} {}", file_, reason);
  }
  void add_note(std::string text) { bundle_.notes.push_back(std::move(text)); }

  // The two sections with a member a key are read while the text is parsed.
  bool take(std::string_view section, const std::string& name, const Json& value) {
    if (section == "config") {
      take_value(name, value);
    } else if (section == "annotations") {
      take_annotation(name, value);
    } else {
      return false;
    }
    return true;
  }

  void take_value(const std::string& key, const Json& value) {
    if (value.is_null()) return add_note(fmt::format("'{}' has no value and is left out", key));
    auto name = config::canonical_key(trim(key));
    auto text = config::canonical_value(name, setup::setting_text(value));
    auto& config = bundle_.config;
    auto count = config.size();
    auto at = config.try_emplace(config.end(), name, text);
    if (config.size() == count && at->second != text && !given_twice_) given_twice_ = name;
  }

  void take_annotation(const std::string& key, const Json& a) {
    if (!a.is_object()) return;
    auto flag = [&](const char* name) { return a.value(name, Json(false)) == true; };
    auto& into = bundle_.annotations;
    auto at = into.try_emplace(into.end(), config::canonical_key(key));
    at->second = {flag("secret"), flag("vault_ref"), flag("masked")};
  }

  // A section that is absent is empty.
  Result<const Json*> section(std::string_view name, Json::value_t type) const {
    auto it = document_.find(name);
    if (it == document_.end() || it->is_null()) return static_cast<const Json*>(nullptr);
    if (it->type() != type)
      return bad(fmt::format("is malformed: its section '{}' is not {}", name,
                             type == Json::value_t::array ? "a list" : "an object"));
    return &*it;
  }

  Result<void> check_schema() const {
    auto it = document_.find("schema");
    if (it == document_.end()) return {};
    if (!it->is_number_integer()) return bad("is malformed: its schema is not a whole number");
    auto schema = it->get<std::int64_t>();
    if (schema > kBundleSchema)
      return bad(fmt::format("has schema {}, newer than the {} that this dashctl reads: use a newer dashctl",
                             schema, kBundleSchema));
    if (schema < kBundleSchema) return bad(fmt::format("has the unknown schema {}", schema));
    return {};
  }

  Result<void> read_config() {
    TRY(section("config", Json::value_t::object));
    if (!given_twice_) return {};
    return bad(fmt::format("gives '{}' twice, in both spellings and with different values", *given_twice_));
  }

  Result<void> read_regions() {
    const auto* regions = TRY(section("regions", Json::value_t::object));
    if (!regions) return {};
    for (const auto& [name, map] : regions->items()) {
      auto cloud = config::canonical_cloud(lower(trim(name)));
      bool is_known = std::ranges::any_of(config::clouds(), [&](const auto& c) { return c.cloud == cloud; });
      if (!is_known) {
        add_note(fmt::format("the region sets of '{}' belong to no cloud and are left out", name));
        continue;
      }
      if (!map.is_object()) return bad(fmt::format("is malformed: regions.{} is not an object", name));
      TRY(read_regions_of(cloud, name, map));
    }
    return {};
  }

  // One region may occur under two names, and one cloud too: their values of a field must agree.
  Result<void> read_regions_of(const std::string& cloud, const std::string& name, const Json& map) {
    auto& into = bundle_.regions[cloud];
    for (const auto& [region, fields] : map.items()) {
      if (!fields.is_object())
        add_note(fmt::format("regions.{}.{} is not an object of fields and is left out", name, region));
      auto one = config::region_map(cloud, {{region, fields}});
      for (const auto& [normal, values] : one)
        for (const auto& [field, value] : values)
          if (auto at = into[normal].find(field); at != into[normal].end() && at->second != value)
            return bad(fmt::format("gives '{}' twice, with different values",
                                   config::region_key(cloud, normal, field)));
      config::merge_regions(into, one);
    }
    return {};
  }

  Result<void> read_webhooks() {
    const auto* rows = TRY(section("notification_endpoints", Json::value_t::array));
    if (!rows) return {};
    for (const auto& row : *rows) {
      if (!row.is_object()) return bad("is malformed: an entry of notification_endpoints is not an object");
      setup::FullWebhook out;
      out.url = Secret(string_member(row, "url").value_or(""));
      out.fmt = string_member(row, "fmt").value_or("custom");
      out.name = string_member(row, "name").value_or("");
      if (out.name.empty()) out.name = out.fmt;
      out.secret = Secret(string_member(row, "secret").value_or(""));
      out.event_types = string_member(row, "event_types");
      out.enabled = row.value("enabled", Json(true)) != false;
      if (trim(out.url.expose()).empty()) {
        add_note(fmt::format("the notification endpoint '{}' has no URL and is left out", out.name));
      } else {
        bundle_.webhooks.push_back(std::move(out));
      }
    }
    return {};
  }

  Result<void> read_excluded() {
    const auto* excluded = TRY(section("excluded", Json::value_t::object));
    if (!excluded) return {};
    for (const auto& [key, reason] : excluded->items())
      bundle_.excluded[config::canonical_key(key)] =
          reason.is_string() ? reason.get<std::string>() : "unknown";
    return {};
  }

  Result<void> read_meta() {
    const auto* meta = TRY(section("meta", Json::value_t::object));
    auto text = [&](const char* name) {
      return meta ? string_member(*meta, name).value_or("") : std::string();
    };
    bundle_.meta.source_url = text("source_url");
    bundle_.meta.exported_at = text("exported_at");
    bundle_.meta.export_method = text("export_method");
    auto key = crypto::from_hex(text("fingerprint_key"));
    if (key && key->size() >= kMinFingerprintKey) {
      bundle_.meta.fingerprint_key = Secret(*std::move(key));
    } else {
      // The file was written by hand or by a Python dashboard. Its content makes the key of the fingerprints,
      // so that two runs print the same.
      bundle_.meta.fingerprint_key = Secret(crypto::hmac_sha256("dashctl bundle fingerprints v1", text_));
    }
    if (auto digest = text("digest"); !digest.empty() && digest != bundle_.digest)
      add_note("it was edited since it was exported");
    return {};
  }

  Json document_;
  std::string_view text_;
  std::string_view file_;
  std::optional<std::string> given_twice_;  // a key of config
  Bundle bundle_;
};

}  // namespace

Result<Bundle> parse_bundle(std::string_view text, std::string_view file) {
  return Reader(text, file).read();
}

}  // namespace dash::migrate
