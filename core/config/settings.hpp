// Typed, live reads of the configuration: each call asks the database, so a change holds at once in every
// process.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/config/encrypted_store.hpp"

namespace dash::config {

class Settings {
 public:
  explicit Settings(EncryptedStore& store) : store_(store) {}

  // Stored text, or `fallback` when absent or empty.
  Result<std::string> text(const std::string& key, std::string_view fallback = "");
  // Trimmed, any case: 1 true yes on / 0 false no off; empty or absent: fallback. Anything else is
  // Code::invalid naming the key.
  Result<bool> flag(const std::string& key, bool fallback);
  Result<std::int64_t> integer(const std::string& key, std::int64_t fallback);
  // Comma-separated text or a JSON array of strings; trimmed, blanks dropped, order kept. Code::invalid for
  // text that starts like JSON and is not an array of strings: never silently empty.
  Result<std::vector<std::string>> list(const std::string& key);
  // All at once, for callers that need a consistent view of several keys.
  Result<Values> all() { return store_.all(); }

 private:
  EncryptedStore& store_;
};

Result<std::vector<std::string>> parse_list(std::string_view key, std::string_view text);
Result<bool> parse_flag(std::string_view key, std::string_view text, bool fallback);

}  // namespace dash::config
