// A bundle: one instance's configuration as a plain JSON document that users review and edit before it is
// written to another. The spec's four sections (config, regions, excluded, annotations) are enough; export
// adds schema, meta and notification_endpoints. A bundle is canonical; a file in the providers' spelling is
// accepted too. The text holds live credentials. Pure.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.hpp"
#include "core/config/clouds.hpp"
#include "core/config/encrypted_store.hpp"
#include "core/config/regions.hpp"
#include "core/setup/webhooks.hpp"

namespace dash::migrate {

inline constexpr int kBundleSchema = 1;
inline constexpr std::size_t kMaxBundleBytes = 256u << 20;

struct Annotation {
  bool secret = false;
  bool vault_ref = false;
  bool masked = false;
  bool operator==(const Annotation&) const = default;
};

struct BundleMeta {
  std::string source_url;     // as the user named it
  std::string exported_at;    // 2026-07-03T14:00:00Z
  std::string export_method;  // http, docker or local
  Secret fingerprint_key;     // raw bytes; keys the fingerprints that diff and import print
};

struct Bundle {
  BundleMeta meta;
  config::Values config;
  config::RegionSets regions;
  std::vector<setup::FullWebhook> webhooks;
  // key → reason: a held-back word, masked, malformed_region_set.
  std::map<std::string, std::string> excluded;
  std::map<std::string, Annotation> annotations;
  std::string digest;  // of the sections, as they were read
  // What the reader found, for the user: an edit since the export, entries without a meaning.
  std::vector<std::string> notes;

  std::size_t region_count() const;
};

// Returns the whole document, indented, with counts and digest. In the providers' spelling, the tool of a
// Python dashboard can read it.
std::string write_bundle(const Bundle& bundle, config::NameStyle style = config::NameStyle::canonical);

// Code::integrity with `file` and the reason: cut, not an object, of a newer schema, a section of the wrong
// shape, one key in both spellings with two values.
Result<Bundle> parse_bundle(std::string_view text, std::string_view file);

// Returns "sha256:<hex>" over the sections, whatever their layout in the file.
std::string digest_of(const Bundle& bundle);

// Returns eight hex digits of HMAC-SHA256 under the bundle's key. They distinguish values and do not reveal
// them.
std::string fingerprint(const Bundle& bundle, std::string_view value);
// Returns the number of Unicode code points of UTF-8 text.
std::size_t code_points(std::string_view text);

}  // namespace dash::migrate
