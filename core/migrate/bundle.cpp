#include "core/migrate/bundle.hpp"

#include <algorithm>

#include "core/config/clouds.hpp"
#include "core/crypto/hash.hpp"
#include "core/setup/import_body.hpp"

namespace dash::migrate {
namespace {

constexpr std::size_t kFingerprintDigits = 8;

Json endpoint_json(const setup::FullEndpoint& row) {
  Json out{{"name", row.name},       {"url", row.url.expose()},
           {"fmt", row.fmt},         {"secret", row.secret.expose()},
           {"event_types", nullptr}, {"enabled", row.enabled}};
  if (row.event_types) out["event_types"] = *row.event_types;
  return out;
}

struct Section {
  std::string_view name;
  Json content;
};

std::vector<Section> sections_of(const Bundle& bundle) {
  auto endpoints = Json::array();
  for (const auto& row : bundle.endpoints) endpoints.push_back(endpoint_json(row));
  auto annotations = Json::object();
  for (const auto& [key, a] : bundle.annotations)
    annotations[key] = {{"secret", a.secret}, {"vault_ref", a.vault_ref}, {"masked", a.masked}};
  return {{"config", Json(bundle.config)},
          {"regions", Json(bundle.regions)},
          {"notification_endpoints", std::move(endpoints)},
          {"excluded", Json(bundle.excluded)},
          {"annotations", std::move(annotations)}};
}

std::string digest_of(const std::vector<Section>& sections) {
  crypto::Sha256 hash;
  for (const auto& section : sections) {
    hash.update(section.name);
    hash.update(dump_json(section.content));
  }
  return "sha256:" + crypto::to_hex(hash.finish());
}

Json meta_json(const Bundle& bundle, std::string digest) {
  auto count = [&](auto member) {
    return std::ranges::count_if(bundle.annotations, [&](const auto& a) { return a.second.*member; });
  };
  return {{"source_url", bundle.meta.source_url},
          {"exported_at", bundle.meta.exported_at},
          {"export_method", bundle.meta.export_method},
          {"fingerprint_key", crypto::to_hex(bundle.meta.fingerprint_key.expose())},
          {"digest", std::move(digest)},
          {"counts",
           {{"portable", bundle.config.size()},
            {"excluded", bundle.excluded.size()},
            {"masked", count(&Annotation::masked)},
            {"vault_ref", count(&Annotation::vault_ref)},
            {"regions", bundle.region_count()},
            {"endpoints", bundle.endpoints.size()}}}};
}

// A member of the document, indented under it. JSON text holds a newline only between its tokens.
std::string member(std::string_view name, const Json& content) {
  auto text = dump_json(content, 2);
  std::string out = fmt::format("  \"{}\": ", name);
  for (char c : text) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out;
}

}  // namespace

std::size_t Bundle::region_count() const {
  std::size_t n = 0;
  for (const auto& [cloud, map] : regions) n += map.size();
  return n;
}

std::string digest_of(const Bundle& bundle) { return digest_of(sections_of(bundle)); }

std::string write_bundle(const Bundle& bundle) {
  auto sections = sections_of(bundle);
  std::string out = "{\n" + member("schema", kBundleSchema) + ",\n";
  out += member("meta", meta_json(bundle, digest_of(sections)));
  for (const auto& section : sections) {
    out += ",\n";
    out += member(section.name, section.content);
  }
  return out + "\n}\n";
}

std::string fingerprint(const Bundle& bundle, std::string_view value) {
  return crypto::to_hex(crypto::hmac_sha256(bundle.meta.fingerprint_key.expose(), value))
      .substr(0, kFingerprintDigits);
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace dash::migrate
