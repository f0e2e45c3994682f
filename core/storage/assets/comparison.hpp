// Compares the assets of two backends by name, size and content (digests; an asset without one is read). For
// admins; writes nothing.
#pragma once
#include <string>
#include <vector>

#include "core/base/buffer_pool.hpp"
#include "core/base/principal.hpp"
#include "core/base/progress.hpp"
#include "core/storage/assets/assets.hpp"

namespace dash::storage {

struct CompareResult {
  struct Difference {
    std::string name;
    std::string why;
  };
  std::string source, target;  // as this instance spells them
  std::vector<std::string> same, only_source, only_target;
  std::vector<Difference> different;
  bool is_same() const { return only_source.empty() && only_target.empty() && different.empty(); }
};
// {source, target, ok, same, different: [{name, why}], only_source, only_target}
OrderedJson to_json(const CompareResult&);

struct CompareDeps {
  Stores& stores;
  Assets& assets;
  BufferPool& buffers;
};
// Returns the recorded digest of an asset, else one computed from its content.
Result<std::string> content_digest(const CompareDeps& deps, const Principal& principal,
                                   const std::string& backend, const std::string& name);
// Code::invalid for an unknown or unconfigured backend and when both are the same.
Result<CompareResult> compare_backends(const CompareDeps& deps, const Principal& principal,
                                       const std::string& source, const std::string& target,
                                       Progress& progress);

}  // namespace dash::storage
