#include "core/automation/asset_file.hpp"

#include <fcntl.h>
#include <string.h>

#include "core/automation/agent_release.hpp"
#include "core/base/fd.hpp"
#include "core/storage/store/digest.hpp"

namespace dash::automation {
namespace {

constexpr std::chrono::seconds kBufferTimeout(60);

Result<void> write_bytes(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    auto n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(Code::internal, "cannot write {}: {}", path, ::strerrordesc_np(errno));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

// Copies the object part by part and returns its digest.
Result<std::string> copy_to(int file, storage::ObjectStore& store, const storage::Object& object,
                            BufferPool& buffers, const std::string& path) {
  auto buffer = TRY(buffers.acquire(kBufferTimeout));
  storage::PartDigests digest;
  std::uint64_t offset = 0;
  do {
    std::size_t size = 0;
    auto wanted = std::min<std::uint64_t>(kPartBytes, object.size - offset);
    while (size < wanted) {
      auto n = TRY(store.read(object.key, offset + size, object.etag,
                              buffer.span().subspan(size, static_cast<std::size_t>(wanted) - size)));
      if (n == 0) return fail(Code::precondition, "'{}' is shorter than it was", object.key);
      size += static_cast<std::size_t>(n);
    }
    std::string_view part(buffer.data(), size);
    digest.add(crypto::sha256(part));
    TRY(write_bytes(file, part, path));
    offset += size;
  } while (offset < object.size);
  return digest.finish();
}

}  // namespace

Result<bool> fetch_asset(const FetchDeps& deps, const jobs::Job& job, const std::string& path) {
  auto asset = TRY(find_run_asset(deps.stores, job));
  if (!asset) return false;
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0) return fail(Code::internal, "cannot write {}: {}", path, ::strerrordesc_np(errno));
  auto copied = copy_to(file.get(), *asset->store, asset->object, deps.buffers, path);
  bool has_changed =
      !copied && (copied.error().code == Code::precondition || copied.error().code == Code::not_found);
  if (has_changed) return false;
  if (!copied) return Failure(copied.error());
  return asset->digest.empty() || *copied == asset->digest;
}

}  // namespace dash::automation
