// The one table of stores: backend id → the room that opens it. Outside of the rooms, nothing else names
// them. A new backend is a folder, a row here and the contract suite green. Called by app/wire.cpp.
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

// What a room may need of the outside world. Outlives every store.
struct StoreDeps {
  net::HttpClient& http;
  const Clock& clock;
  std::string program = "/proc/self/exe";   // this binary, for the child that speaks SMB
  const local::RootRules* roots = nullptr;  // absent: only the system's own folders are refused
};

// What storage_local_path may be: empty, the UNC path of a share, or a folder that the rules accept.
// Code::invalid with a sentence that names the setting.
Result<void> check_local_root(std::string_view setting, const local::RootRules& rules);

// The store as its protocol has it: no retry. Code::invalid names the setting that is missing or wrong.
Result<std::unique_ptr<ObjectStore>> open_bare_store(const Backend& backend, const config::Values& values,
                                                     const StoreDeps& deps);
// The same behind with_retry(): what the product uses.
Result<std::shared_ptr<ObjectStore>> open_store(const Backend& backend, const config::Values& values,
                                                const StoreDeps& deps);

}  // namespace dash::storage
