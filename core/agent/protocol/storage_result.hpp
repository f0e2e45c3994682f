// The result of a storage job, as the agent writes it and the dashboard reads it. Members beside the deployed
// agents' own (cursor, etag, the size of a fetched file, existed) are absent in their results. Readers fail
// with Code::validation for a member of the wrong type and Code::invalid for a value that is none.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.hpp"

namespace dash::agent {

// The error of a failed job begins so when there is no file of that name.
inline constexpr std::string_view kFileNotFound = "Not found: ";

struct SharedFile {
  std::string name;
  std::uint64_t size = 0;
  std::string etag{};  // changes with the content; empty: the agent has none
};

struct ListJobResult {
  std::vector<SharedFile> files;
  std::string cursor{};  // for the next page; empty: this is the last
};
Json to_json(const ListJobResult& result);
// Leaves out files whose names no job could carry.
Result<ListJobResult> read_list_result(const Json& result);

struct FetchJobResult {
  std::string content;                  // raw bytes, of the range that was asked for
  std::optional<std::uint64_t> size{};  // of the whole file; absent: that of the content
  std::string etag{};
};
Json to_json(const FetchJobResult& result);
Result<FetchJobResult> read_fetch_result(const Json& result);

struct UploadJobResult {
  std::uint64_t size = 0;
  std::string etag{};
};
Json to_json(const UploadJobResult& result);
Result<UploadJobResult> read_upload_result(const Json& result);

struct RemoveJobResult {
  std::string name;
  bool existed = true;  // an agent that does not say so is believed to have removed it
};
Json to_json(const RemoveJobResult& result);
Result<RemoveJobResult> read_remove_result(const Json& result);

}  // namespace dash::agent
