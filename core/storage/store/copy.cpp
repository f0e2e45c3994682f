#include "core/storage/store/copy.hpp"

#include "core/base/log.hpp"
#include "core/storage/store/digest.hpp"
#include "core/storage/store/part_layout.hpp"

namespace dash::storage {
namespace {

std::string_view view(const Buffer& buffer, std::size_t size) { return {buffer.data(), size}; }

Result<void> check_digest(const CopySource& from, const std::string& digest) {
  if (from.digest.empty() || from.digest == digest) return {};
  return fail(Code::integrity, "'{}' in {} is not what was stored: it has {}, and {} was recorded",
              from.object.key, from.store.place(), digest, from.digest);
}

Result<CopyResult> copy_whole(const CopySource& from, ObjectStore& to, const std::string& key,
                              bool only_if_absent, Buffer& buffer) {
  auto size = static_cast<std::size_t>(from.object.size);
  TRY(read_exactly(from.store, from.object, 0, buffer.span().first(size)));
  PartDigests digests;
  digests.add(crypto::sha256(view(buffer, size)));
  auto digest = digests.finish();
  TRY(check_digest(from, digest));
  return CopyResult{TRY(to.put(key, view(buffer, size), PutOptions{digest, only_if_absent})), digest};
}

Result<CopyResult> copy_parts(const CopySource& from, ObjectStore& to, const std::string& upload,
                              bool only_if_absent, Buffer& buffer) {
  PartDigests digests;
  std::vector<StagedPart> staged;
  auto count = part_count(from.object.size);
  for (std::uint32_t n = 1; n <= count; ++n) {
    auto size = static_cast<std::size_t>(part_length(from.object.size, n));
    TRY(read_exactly(from.store, from.object, part_offset(n), buffer.span().first(size)));
    digests.add(crypto::sha256(view(buffer, size)));
    auto tag = TRY(to.put_part(upload, n, view(buffer, size), n == count));
    staged.push_back({n, size, std::move(tag)});
  }
  auto digest = digests.finish();
  TRY(check_digest(from, digest));
  return CopyResult{TRY(to.commit(upload, staged, PutOptions{digest, only_if_absent})), digest};
}

Result<CopyResult> copy_chunked(const CopySource& from, ObjectStore& to, const std::string& key,
                                bool only_if_absent, Buffer& buffer) {
  auto max_bytes = to.capabilities().max_bytes;
  if (max_bytes != 0 && from.object.size > max_bytes)
    return fail(Code::too_large, "'{}' has {} bytes; {} takes at most {}", from.object.key, from.object.size,
                to.place(), max_bytes);
  auto upload = TRY(to.begin(key, from.object.size));
  auto copied = copy_parts(from, to, upload, only_if_absent, buffer);
  if (!copied)
    if (auto done = to.abort(upload); !done)
      log::warning("storage.abort_failed", {{"place", to.place()}, {"error", done.error().message}});
  return copied;
}

}  // namespace

Result<void> read_exactly(ObjectStore& store, const Object& object, std::uint64_t offset,
                          std::span<char> out) {
  while (!out.empty()) {
    auto n = TRY(store.read(object.key, offset, object.etag, out));
    if (n == 0) return fail(Code::integrity, "'{}' ended early in {}", object.key, store.place());
    offset += n;
    out = out.subspan(n);
  }
  return {};
}

Result<CopyResult> copy_object(const CopySource& from, ObjectStore& to, const std::string& key,
                               bool only_if_absent, BufferPool& buffers) {
  auto buffer = TRY(buffers.acquire(kCopyBufferTimeout));
  auto copied = TRY(from.object.size <= kPartBytes ? copy_whole(from, to, key, only_if_absent, buffer)
                                                   : copy_chunked(from, to, key, only_if_absent, buffer));
  if (copied.object.size != from.object.size)
    return fail(Code::integrity, "{} stored {} bytes for '{}', which has {}; copy it again", to.place(),
                copied.object.size, key, from.object.size);
  return copied;
}

}  // namespace dash::storage
