// Copies one image between two stores: by the service itself where both are of one account, else in parts of
// 8 MiB, each in a buffer. The copy is read back before it counts.
#pragma once
#include <optional>
#include <string>

#include "core/storage/store/copy.hpp"

namespace dash::images {

struct ImageCopy {
  storage::CopySource from;
  storage::ObjectStore& to;
  std::string key;
  // The bucket of `from` when its account is also the target's, as InsideCopy names it.
  std::optional<std::string> inside_bucket{};
  bool only_if_absent = false;
};
// Code::precondition when the source was replaced meanwhile, Code::integrity when the copy does not have its
// bytes. A failure leaves no copy behind.
Result<storage::CopyResult> copy_image(const ImageCopy& copy, storage::CopyWatch& watch, BufferPool& buffers);

// Returns what the front and the end of the object show of its format, for check_format().
Result<std::string> read_marks(storage::ObjectStore& store, const storage::Object& object);

// Returns the last segment of ObjectStore::place(): bucket or container.
std::string bucket_of(const storage::ObjectStore& store);

}  // namespace dash::images
