#include "core/images/image_copy.hpp"

#include <algorithm>

#include "core/base/log.hpp"
#include "core/images/formats.hpp"

namespace dash::images {
namespace {

using storage::CopyResult;

Result<CopyResult> copy_by_service(const ImageCopy& copy, storage::CopyWatch& watch) {
  std::uint64_t reported = 0;
  storage::InsideCopy inside{copy.from.object, *copy.inside_bucket, copy.key, copy.only_if_absent};
  inside.watch = [&](std::uint64_t bytes_done) {
    if (bytes_done > reported) watch.after_piece(bytes_done - reported);
    reported = std::max(reported, bytes_done);
    return watch.before_piece(0);
  };
  return CopyResult{TRY(copy.to.copy_inside(inside)), copy.from.digest};
}

Result<CopyResult> copy_bytes(const ImageCopy& copy, storage::CopyWatch& watch, BufferPool& buffers) {
  if (copy.inside_bucket && copy.to.capabilities().copies_inside) {
    auto copied = copy_by_service(copy, watch);
    if (copied || copied.error().code != Code::unsupported) return copied;
  }
  return storage::copy_object(copy.from, copy.to, copy.key,
                              {.only_if_absent = copy.only_if_absent, .watch = &watch}, buffers);
}

// Returns the digest that both sides have.
Result<std::string> compare(const ImageCopy& copy, const CopyResult& copied, storage::CopyWatch& watch,
                            BufferPool& buffers) {
  auto expected = copied.digest;
  if (expected.empty())
    expected = TRY(storage::read_digest(copy.from.store, copy.from.object, buffers, &watch));
  auto found = TRY(storage::read_digest(copy.to, copied.object, buffers, &watch));
  if (found == expected && copied.object.size == copy.from.object.size) return found;
  return fail(Code::integrity,
              "{} does not hold what was copied to '{}': it has {}, and {} was sent; try again",
              copy.to.place(), copy.key, found, expected);
}

}  // namespace

Result<CopyResult> copy_image(const ImageCopy& copy, storage::CopyWatch& watch, BufferPool& buffers) {
  auto copied = TRY(copy_bytes(copy, watch, buffers));
  auto digest = compare(copy, copied, watch, buffers);
  if (!digest) {
    if (auto removed = copy.to.remove_unchanged(copied.object); !removed)
      log::warning("image.copy_left", {{"key", copy.key}, {"error", removed.error().message}});
    return Failure(std::move(digest).error());
  }
  copied.digest = *std::move(digest);
  return copied;
}

Result<std::string> read_marks(storage::ObjectStore& store, const storage::Object& object) {
  std::string front(static_cast<std::size_t>(std::min<std::uint64_t>(object.size, kFrontBytes)), '\0');
  TRY(storage::read_exactly(store, object, 0, front));
  std::string end(std::min(front.size(), kEndBytes), '\0');
  TRY(storage::read_exactly(store, object, object.size - end.size(), end));
  return marks_of_front(front) + marks_of_end(end);
}

std::string bucket_of(const storage::ObjectStore& store) {
  auto place = store.place();
  return place.substr(place.rfind('/') + 1);
}

}  // namespace dash::images
