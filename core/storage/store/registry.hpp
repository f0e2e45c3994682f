// The one table of stores: backend id → the function that opens it. No other file outside of their folders
// names them. A new backend is a folder, a row here, a row of its settings in backends.cpp, and a run of the
// contract suite. Called by app.
#pragma once
#include <memory>
#include <string>

#include "core/base/clock.hpp"
#include "core/config/encrypted_store.hpp"
#include "core/net/http/http_client.hpp"
#include "core/storage/store/backends.hpp"
#include "core/storage/store/local/root_rules.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage {

// What a store may need from outside. Outlives every store.
struct StoreDeps {
  net::HttpClient& http;
  const Clock& clock;
  std::string program = "/proc/self/exe";   // this binary, for the child that runs SMB
  const local::RootRules* roots = nullptr;  // absent: only the system's own folders are refused
};

// Checks a value of storage_local_path: empty, the UNC path of a share, or a folder that the rules accept.
// Code::invalid with a sentence that names the setting.
Result<void> check_local_root(std::string_view setting, const local::RootRules& rules);

// Opens the store without retries. Code::invalid names the setting that is missing or wrong.
Result<std::unique_ptr<ObjectStore>> open_bare_store(const Backend& backend, const config::Values& values,
                                                     const StoreDeps& deps);
// Opens the store behind with_retry(). The product uses this one.
Result<std::shared_ptr<ObjectStore>> open_store(const Backend& backend, const config::Values& values,
                                                const StoreDeps& deps);

}  // namespace dash::storage
