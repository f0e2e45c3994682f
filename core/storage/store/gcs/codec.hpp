// JSON of the Cloud Storage API v1 and the headers of its resumable uploads ↔ structs (cloud.google.com,
// Cloud Storage JSON API reference). Pure. The input comes from a server, so every shape is checked. Called
// by store.cpp.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"

namespace dash::storage::gcs {

// The name of our digest in an object's metadata.
inline constexpr std::string_view kDigestMember = "dashctl-digest";
// Which upload made the object, so that a commit with a lost response can be distinguished from one that
// never happened.
inline constexpr std::string_view kUploadMember = "dashctl-upload";

struct StoredObject {
  std::string name;
  std::uint64_t size = 0;
  std::string generation;  // changes with every write; decimal
  std::string md5;         // base64; empty for composite objects
  std::string crc32c;      // base64, big endian
  Time updated;
  std::string digest;  // ours, from the metadata
  std::string upload;  // ours, from the metadata
};
Result<StoredObject> parse_object(std::string_view json);

struct ListPage {
  std::vector<StoredObject> objects;
  std::string next_page_token;  // empty: last page
};
Result<ListPage> parse_list(std::string_view json);

struct RewriteProgress {
  std::optional<StoredObject> object;  // when done
  std::string token;                   // for the next call otherwise
  std::uint64_t bytes_done = 0;        // of one that is not done
};
Result<RewriteProgress> parse_rewrite(std::string_view json);

// Returns the JSON that an upload or a rewrite sends about the new object. `name` empty: the URL has it.
// `md5` (base64) makes the service refuse other bytes.
std::string object_body(std::string_view name, std::string_view digest, std::string_view upload,
                        std::string_view md5);

// A body of multipart/related (RFC 2387) and its content type: the object's JSON, then its bytes.
struct MultipartBody {
  std::string content_type;
  std::string bytes;
};
MultipartBody multipart_body(std::string_view object_json, std::string_view bytes, std::string_view boundary);

// Returns "bytes 0-8388607/*" (RFC 9110 §14.4). An empty range queries the state: "bytes */*".
std::string content_range(std::uint64_t offset, std::uint64_t size, std::optional<std::uint64_t> total);
// Returns how many bytes the session has, from the Range header of a 308: "bytes=0-262143". Without one:
// none.
Result<std::uint64_t> parse_received_size(std::optional<std::string_view> range);

// Returns path and query of the session's address in a Location header, without the host: requests of a
// session go to the endpoint of the settings.
Result<std::string> session_target(std::string_view location);

struct ServiceError {
  std::string code;  // "conditionNotMet", "invalid_grant"
  std::string message;
};
// Reads an error of the API ({"error":{…}}) or of the token endpoint (RFC 6749 §5.2). Returns empty members
// for anything else.
ServiceError parse_error(std::string_view json);

}  // namespace dash::storage::gcs
