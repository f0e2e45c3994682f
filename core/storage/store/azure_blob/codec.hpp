// XML of the Blob service ↔ structs (learn.microsoft.com, Blob service REST API: List Blobs, Get Block List,
// Put Block List, "Status and error codes"). Pure. The input comes from a server, so every shape is checked.
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

// The name of our digest in a blob's metadata. Names there are identifiers: no hyphen.
inline constexpr std::string_view kDigestMetadata = "dashctl_digest";
// Which upload made the blob, so that a commit with a lost response can be distinguished from one that never
// happened.
inline constexpr std::string_view kUploadMetadata = "dashctl_upload";

// The digest of an empty blob that takes the place of unfinished blocks, so that the service drops them. It
// is no asset: listings leave it out, and the next sweep drops one that a crash left.
inline constexpr std::string_view kSweptMark = "dashctl-swept";

struct ListedBlob {
  std::string name;
  std::uint64_t size = 0;
  std::string etag;
  Time modified;
  std::string digest;
  std::string copy_status{};  // of a blob that Copy Blob made: "pending", "success", …
};
struct ListPage {
  std::vector<ListedBlob> blobs;
  std::string next_marker;  // empty: last page
};
Result<ListPage> parse_list(std::string_view xml);

// Returns a new random id of an upload, 32 hex digits. It contains the time, which the service does not keep.
std::string new_upload_id(Time now);
// Returns when the upload of a block began; nullopt when the id is another tool's or has no time.
std::optional<Time> began_at(std::string_view block_id);

// Returns the id of a block. A blob has the blocks of all uploads to its name in one pool, so the id contains
// the upload's 32 hex digits and the part's number. All ids have one length, as the service demands.
std::string block_id(std::string_view upload_id, std::uint32_t part);
// Returns the part's number when the block belongs to that upload.
std::optional<std::uint32_t> part_of(std::string_view block_id, std::string_view upload_id);

struct Block {
  std::string id;
  std::uint64_t size = 0;
};
// Returns the uncommitted blocks of all uploads.
Result<std::vector<Block>> parse_blocks(std::string_view xml);
std::string block_list(const std::vector<std::string>& ids);

struct ServiceError {
  std::string code;
  std::string message;  // its first line, without request id and time
};
// Returns empty members when the body is no error of the service.
ServiceError parse_error(std::string_view xml);

}  // namespace dash::storage::azure_blob
