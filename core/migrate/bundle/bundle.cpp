#include "core/migrate/bundle/bundle.hpp"

#include <algorithm>
#include <utility>

#include "core/crypto/hash.hpp"
#include "core/setup/import_body.hpp"

namespace dash::migrate {
namespace {

constexpr std::size_t kFingerprintDigits = 8;

Json webhook_json(const setup::FullWebhook& row) {
  Json out{{"name", row.name},       {"url", row.url.expose()},
           {"fmt", row.fmt},         {"secret", row.secret.expose()},
           {"event_types", nullptr}, {"enabled", row.enabled}};
  if (row.event_types) out["event_types"] = *row.event_types;
  return out;
}

Json webhooks_json(const Bundle& bundle) {
  auto out = Json::array();
  for (const auto& row : bundle.webhooks) out.push_back(webhook_json(row));
  return out;
}

Json annotation_json(const Annotation& a) {
  return {{"secret", a.secret}, {"vault_ref", a.vault_ref}, {"masked", a.masked}};
}

struct Section {
  std::string_view name;
  Json content;
};

std::vector<Section> sections_of(const Bundle& bundle) {
  auto annotations = Json::object();
  for (const auto& [key, a] : bundle.annotations) annotations[key] = annotation_json(a);
  return {{"config", Json(bundle.config)},
          {"regions", Json(bundle.regions)},
          {"notification_endpoints", webhooks_json(bundle)},
          {"excluded", Json(bundle.excluded)},
          {"annotations", std::move(annotations)}};
}

// Hashes the sections as dump_json() would write them, a little at a time.
class Digest {
 public:
  template <class Content>
  void add(std::string_view name, const Content& content) {
    text_ += name;
    write(content);
  }
  std::string finish() {
    flush();
    return "sha256:" + crypto::to_hex(hash_.finish());
  }

 private:
  static constexpr std::size_t kFlushBytes = 16 << 10;

  void write(const Json& value) { text_ += dump_json(value); }
  void write(const std::string& value) { append_json(text_, value); }
  void write(const Annotation& a) { write(annotation_json(a)); }
  template <class Value>
  void write(const std::map<std::string, Value>& members) {
    char before = '{';
    for (const auto& [name, value] : members) {
      text_ += std::exchange(before, ',');
      append_json(text_, name);
      text_ += ':';
      write(value);
      if (text_.size() >= kFlushBytes) flush();
    }
    text_ += members.empty() ? "{}" : "}";
  }
  void flush() {
    hash_.update(text_);
    text_.clear();
  }

  crypto::Sha256 hash_;
  std::string text_;
};

// Adds what the tool of a Python dashboard expects in meta: its two words for the method of an export (a read
// on the machine is "docker" to it), the commit of its own checkout, and a time with an offset.
void respell_meta(Json& meta) {
  if (meta["export_method"] != "http") meta["export_method"] = "docker";
  auto at = meta["exported_at"].get<std::string>();
  if (at.ends_with('Z')) meta["exported_at"] = at.substr(0, at.size() - 1) + "+00:00";
  meta["git_commit"] = "";
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
            {"endpoints", bundle.webhooks.size()}}}};
}

template <class Map>
Map respelled_keys(const Map& map) {
  Map out;
  for (const auto& [key, value] : map) out[config::provider_key(key)] = value;
  return out;
}

// Returns the bundle with keys, values and clouds in the providers' spelling.
Bundle respelled(const Bundle& bundle) {
  Bundle out = bundle;
  out.config.clear();
  for (const auto& [key, value] : bundle.config)
    out.config[config::provider_key(key)] = config::provider_value(key, value);
  out.regions.clear();
  for (const auto& [cloud, map] : bundle.regions) out.regions[config::provider_cloud(cloud)] = map;
  out.excluded = respelled_keys(bundle.excluded);
  out.annotations = respelled_keys(bundle.annotations);
  return out;
}

// Returns a member of the document, indented. JSON text has a newline only between its tokens.
std::string member(std::string_view name, const Json& content) {
  auto text = dump_json(content, 2);
  std::string out = fmt::format("  \"{}\": ", name);
  for (char c : text) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out;
}

std::string document(const Json& meta, const std::vector<Section>& sections) {
  std::string out = "{\n" + member("schema", kBundleSchema) + ",\n" + member("meta", meta);
  for (const auto& section : sections) {
    out += ",\n";
    out += member(section.name, section.content);
  }
  return out + "\n}\n";
}

}  // namespace

std::size_t Bundle::region_count() const {
  std::size_t n = 0;
  for (const auto& [cloud, map] : regions) n += map.size();
  return n;
}

std::string digest_of(const Bundle& bundle) {
  Digest digest;
  digest.add("config", bundle.config);
  digest.add("regions", bundle.regions);
  digest.add("notification_endpoints", webhooks_json(bundle));
  digest.add("excluded", bundle.excluded);
  digest.add("annotations", bundle.annotations);
  return digest.finish();
}

std::string write_bundle(const Bundle& bundle, config::NameStyle style) {
  if (style == config::NameStyle::canonical)
    return document(meta_json(bundle, digest_of(bundle)), sections_of(bundle));
  auto meta = meta_json(bundle, digest_of(bundle));
  respell_meta(meta);
  return document(meta, sections_of(respelled(bundle)));
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
