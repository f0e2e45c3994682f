// Makes a bundle of what an instance tells: each key is portable, a region field, or held back with its
// reason.
#pragma once
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/migrate/bundle/bundle.hpp"
#include "core/migrate/instance.hpp"

namespace dash::migrate {

struct ExportOrder {
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

struct Exported {
  Bundle bundle;
  ExportFindings findings;
};

// Code::integrity, naming the keys, when the values are ciphertext: a peer whose key is wrong serves that.
// `endpoints` are those whose URL could be had.
Result<Exported> make_bundle(const config::Values& values, std::vector<setup::FullEndpoint> endpoints,
                             const ExportOrder& order, const Clock& clock);

}  // namespace dash::migrate
