// Strict base64 (RFC 4648 §4) in pieces of any size: the alphabet alone, padded, no white space, unused bits
// zero. Exactly what crypto::from_base64 takes, for texts that are never whole in memory.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dash::storage {

class Base64Stream {
 public:
  // Appends the decoded bytes to `out`. Returns false once the text cannot be base64 any more.
  [[nodiscard]] bool feed(std::string_view text, std::string& out);
  // Returns false when the text stops in the middle.
  [[nodiscard]] bool finish() const { return !broken_ && held_ == 0; }

 private:
  bool take(char c, std::string& out);
  bool close(std::string& out);
  std::uint32_t bits_ = 0;
  int held_ = 0;  // characters of the current group of four, padding included
  int padding_ = 0;
  bool closed_ = false;  // a padded group ended the text
  bool broken_ = false;
};

}  // namespace dash::storage
