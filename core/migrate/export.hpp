// Makes a bundle of what an instance tells: each key is portable, a region field, or held back with its
// reason.
#pragma once
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/migrate/bundle/bundle.hpp"
#include "core/migrate/target.hpp"

namespace dash::migrate {

struct ExportOptions {
  std::string source;  // as it was named
  std::string method;  // http, docker or local
  bool include_on_prem = false;
};

// What came to light besides the bundle.
struct ExportFindings {
  std::vector<std::string> masked;     // their values stayed behind
  std::vector<std::string> in_clear;   // secrets that the source showed although it was asked over HTTP
  std::vector<std::string> malformed;  // region sets that cannot be read
};

struct ExportResult {
  Bundle bundle;
  ExportFindings findings;
};

// Code::integrity, naming the keys, when the values are ciphertext: a Python dashboard with a wrong key
// serves that.
// `webhooks` are those whose URL could be had.
Result<ExportResult> make_bundle(const config::Values& values, std::vector<setup::FullWebhook> webhooks,
                                 const ExportOptions& options, const Clock& clock);

}  // namespace dash::migrate
