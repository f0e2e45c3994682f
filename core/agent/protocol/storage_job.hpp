// The payload of a storage job: a share's name, a folder beneath it and a bare file name, never a path. Both
// sides check it by themselves.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/json.hpp"

namespace dash::agent {

// What fits into a job: its content is base64 in a signed envelope of 256 KiB.
inline constexpr std::size_t kMaxContentBytes = (256u << 10) / 4 * 3;
// What fits into a result beside its other members.
inline constexpr std::size_t kMaxReadBytes = 196'566;
// What an agent with kRangesFeature is asked for at once.
inline constexpr std::size_t kRangeBytes = 128 << 10;

enum class StorageOp { list, fetch, upload, remove };  // remove is `delete` on the wire

struct StorageJob {
  StorageOp op = StorageOp::list;
  std::string share;
  std::string subpath;                    // "" or "a/b"
  std::string name;                       // "" for list
  std::string content;                    // of upload, raw bytes
  std::optional<std::uint64_t> offset{};  // of fetch, from an agent with kRangesFeature
  std::optional<std::uint64_t> length{};
  std::optional<std::string> cursor{};  // of list, from an agent with kPagesFeature; "" begins
};

std::string_view to_text(StorageOp op);
Json to_json(const StorageJob& job);
// Code::invalid names the member and its value. Members that it does not know are refused: a path would be
// one.
Result<StorageJob> read_storage_job(const Json& payload);

// Checks 1 to 128 of letters, digits, '_' and '-'. Code::invalid.
Result<void> check_share(std::string_view share);
// Checks segments joined by '/', each a letter or digit first and then letters, digits, '.', '_', '-', 128
// characters at most. Turns '\' into '/' and drops one at the end; one at the front is refused. Code::invalid.
Result<std::string> clean_subpath(std::string_view subpath);
// Checks a letter or digit and then up to 254 letters, digits, '.', '_' and '-'. Code::invalid.
Result<void> check_job_file_name(std::string_view name);

}  // namespace dash::agent
