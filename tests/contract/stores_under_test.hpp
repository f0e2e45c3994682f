// The stores of the contract suite: how to reach each one's test server, and what only its kind supports.
// scripts/test starts the servers and sets the variables; a missing one fails the test, by name.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/storage/store/registry.hpp"

namespace dash::storage {

struct StoreUnderTest {
  std::string_view name;     // for the test's name
  std::string_view backend;  // id
  config::Values (*settings)();
  // Makes the bucket or container, where the product expects to find one.
  void (*prepare)(const config::Values& settings, const StoreDeps& deps);
  // The same settings with credentials that the server must refuse.
  config::Values (*with_wrong_credentials)(config::Values settings);
  std::string_view endpoint_key;  // where a fault proxy is put in between; "" for file systems
  bool checks_clock = true;       // the test server refuses a request of another year
  bool is_flat = false;           // takes bare file names alone
  // Of a store that is not opened by its settings alone.
  std::unique_ptr<ObjectStore> (*open)(const config::Values& settings) = nullptr;
};

// Those that keep objects of any name, stage parts and list page by page.
std::span<const StoreUnderTest> all_stores();
// With the share of a remote agent, which does none of that.
std::vector<StoreUnderTest> all_stores_and_shares();
// Those behind HTTP.
std::span<const StoreUnderTest> cloud_stores();
std::vector<StoreUnderTest> clock_checking_stores();

// Throws, naming the variable, when it is not set.
std::string need_variable(const char* name);

}  // namespace dash::storage
