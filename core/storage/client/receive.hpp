// Takes an asset into a local file as one step: a temporary file beside it, checked against the asset's
// digest, then renamed.
#pragma once
#include <string>

#include "core/base/progress.hpp"
#include "core/storage/client/desk.hpp"

namespace dash::storage {

struct Received {
  std::uint64_t size = 0;
  std::string digest;        // of the bytes that came
  bool is_verified = false;  // the instance knew the digest, and it is this one
};
// `path` "-": `out` gets the bytes as they come. Code::integrity when they are not the asset's: nothing is
// left at `path`.
Result<Received> receive_file(Desk& desk, const std::string& backend, const std::string& name,
                              const std::string& path, const Sink& out, Progress& progress);

}  // namespace dash::storage
