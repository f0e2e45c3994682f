// Compares the assets of two backends by name, size and content: by the recorded digests, where an asset
// without one is read, or by the bytes of both sides. For admins; writes nothing.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/base/buffer_pool.hpp"
#include "core/base/principal.hpp"
#include "core/base/progress.hpp"
#include "core/storage/assets/assets.hpp"

namespace dash::storage {

struct CompareRequest {
  std::string source, target;               // ids in either spelling
  bool is_download = false;                 // reads every asset on both sides
  std::function<bool()> is_abandoned = {};  // asked for each part; Code::interrupted once it is true
};

struct CompareResult {
  struct Difference {
    std::string name;
    std::string why;
  };
  struct Unread {
    std::string name;
    std::string error;
  };
  std::string source, target;  // as this instance spells them
  std::vector<std::string> same, only_source, only_target;
  std::vector<Difference> different;
  std::vector<Unread> failed;  // could not be compared
  bool is_same() const {
    return only_source.empty() && only_target.empty() && different.empty() && failed.empty();
  }
};
// {source, target, ok, same, different: [{name, why}], only_source, only_target, failed: [{name, error}]}
OrderedJson to_json(const CompareResult&);

struct CompareDeps {
  Stores& stores;
  Assets& assets;
  BufferPool& buffers;
};
// Returns the recorded digest of an asset, else one computed from its content.
Result<std::string> content_digest(const CompareDeps& deps, const Principal& principal,
                                   const std::string& backend, const std::string& name);
// Code::invalid for an unknown or unconfigured backend and when both are the same; Code::unreachable when a
// store no longer answers.
Result<CompareResult> compare_backends(const CompareDeps& deps, const Principal& principal,
                                       const CompareRequest& request, Progress& progress);

}  // namespace dash::storage
