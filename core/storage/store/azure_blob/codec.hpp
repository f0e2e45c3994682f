// XML of the Blob service ↔ structs (learn.microsoft.com, Blob service REST API: List Blobs, Get Block List,
// Put Block List, "Status and error codes"). Pure; fed with bytes of a server, so every shape is checked.
// Called by store.cpp.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"

namespace dash::storage::azure_blob {

// Where our digest stands in a blob's metadata. Names there are identifiers: no hyphen.
inline constexpr std::string_view kDigestMetadata = "dashctl_digest";
// Which upload made the blob, so that a commit whose answer was lost can be told from one that never was.
inline constexpr std::string_view kUploadMetadata = "dashctl_upload";

struct ListedBlob {
  std::string name;
  std::uint64_t size = 0;
  std::string etag;
  Time modified;
  std::string digest;
};
struct ListPage {
  std::vector<ListedBlob> blobs;
  std::string next_marker;  // empty: last page
};
Result<ListPage> parse_list(std::string_view xml);

// A blob keeps the blocks of every upload to its name in one pool, so a block's id says whose it is: the
// upload's 32 hex digits and the part's number. All ids have one length, as the service demands.
std::string block_id(std::string_view upload_id, std::uint32_t part);
// The part's number when the block is that upload's.
std::optional<std::uint32_t> part_of(std::string_view block_id, std::string_view upload_id);

struct Block {
  std::string id;
  std::uint64_t size = 0;
};
// The uncommitted blocks of all uploads.
Result<std::vector<Block>> parse_blocks(std::string_view xml);
std::string block_list(const std::vector<std::string>& ids);

struct ServiceError {
  std::string code;
  std::string message;  // its first line; request id and time stay behind
};
// Empty members when the body is no error of the service.
ServiceError parse_error(std::string_view xml);

}  // namespace dash::storage::azure_blob
