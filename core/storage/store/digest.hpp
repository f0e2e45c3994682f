// One digest for an asset on every store: SHA-256 over the SHA-256s of its 8 MiB parts, so that parts can be
// hashed apart and in parallel. An empty asset has one empty part.
#pragma once
#include <string>
#include <string_view>

#include "core/base/buffer_pool.hpp"
#include "core/base/error.hpp"
#include "core/crypto/hash.hpp"

namespace dash::storage {

// Adds the parts' digests in order. Returns "p8:<64 hex digits>".
class PartDigests {
 public:
  void add(std::string_view part_sha256) { whole_.update(part_sha256); }
  std::string finish() { return "p8:" + crypto::to_hex(whole_.finish()); }

 private:
  crypto::Sha256 whole_;
};

}  // namespace dash::storage
