// Proves that a store can do all that the dashboard needs: `storage test --deep` and
//   POST /api/storage/test {"deep": true}
// It works beside the assets under random names that no listing shows, and removes what it made.
#pragma once
#include <string>
#include <vector>

#include "core/base/buffer_pool.hpp"
#include "core/base/json.hpp"
#include "core/storage/settings/stores.hpp"

namespace dash::storage {

struct DeepTestStep {
  std::string name;     // "list", "write", "range", "replace", "multipart", "abort", "clock", "clean up"
  std::string problem;  // "" when it passed
  std::string note;     // what was observed
};
struct DeepTestReport {
  std::string backend;
  std::string place;
  std::vector<DeepTestStep> checks;
  Versioning versioning = Versioning::unknown;  // recommended, not demanded
  bool is_object_store = true;
  bool has_passed() const;
};
OrderedJson to_json(const DeepTestReport&);

// Needs 8 MiB and one byte of free space in the store. Code::busy without a free buffer.
Result<DeepTestReport> deep_test(const OpenBackend& at, BufferPool& buffers, const Clock& clock);

}  // namespace dash::storage
