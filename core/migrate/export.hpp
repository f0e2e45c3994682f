// Makes a bundle of an instance's configuration. Each key is portable, a region field, or excluded with its
// reason.
#pragma once
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/migrate/bundle/bundle.hpp"
#include "core/migrate/target.hpp"

namespace dash::migrate {

struct ExportOptions {
  std::string source;  // as the user named it
  std::string method;  // http, docker or local
  bool include_on_prem = false;
};

// What an export found besides the bundle.
struct ExportFindings {
  std::vector<std::string> masked;     // keys whose values are missing
  std::vector<std::string> in_clear;   // secrets that the source showed in clear over HTTP
  std::vector<std::string> malformed;  // region sets that cannot be read
};

struct ExportResult {
  Bundle bundle;
  ExportFindings findings;
};

// Code::integrity, naming the keys, when the values are ciphertext: a peer with a wrong key returns that.
// `webhooks` has those whose URL is readable.
Result<ExportResult> make_bundle(const config::Values& values, std::vector<setup::FullWebhook> webhooks,
                                 const ExportOptions& options, const Clock& clock);

}  // namespace dash::migrate
