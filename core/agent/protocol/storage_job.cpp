#include "core/agent/protocol/storage_job.hpp"

#include <algorithm>
#include <array>

#include "core/base/fields.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/crypto/hash.hpp"

namespace dash::agent {
namespace {

constexpr std::array<std::string_view, 4> kOps{"list", "fetch", "upload", "delete"};
constexpr std::array<std::string_view, 8> kMembers{"op",          "share",  "subpath", "name",
                                                   "content_b64", "offset", "length",  "cursor"};
constexpr std::size_t kMaxShareChars = 128, kMaxSegmentChars = 128, kMaxJobNameChars = 255;

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_plain_name(std::string_view name, std::size_t max) {
  return !name.empty() && name.size() <= max && is_alphanumeric(name.front()) &&
         std::ranges::all_of(name,
                             [](char c) { return is_alphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

Result<StorageOp> read_op(std::string_view text) {
  auto it = std::ranges::find(kOps, text);
  if (it == kOps.end())
    return fail(Code::invalid, "the operation '{}' is none of list, fetch, upload and delete",
                escape_controls(text, ""));
  return static_cast<StorageOp>(it - kOps.begin());
}

Result<std::optional<std::uint64_t>> read_position(const Json& payload, std::string_view name) {
  auto value = TRY(integer_field(payload, name));
  if (!value) return std::nullopt;
  if (*value < 0) return fail(Code::invalid, "'{}' is negative", name);
  return static_cast<std::uint64_t>(*value);
}

Result<std::string> read_content(const Json& payload) {
  auto text = TRY(text_field(payload, "content_b64"));
  if (!text) return fail(Code::invalid, "an upload needs 'content_b64'");
  auto bytes = crypto::from_base64(*text);
  if (!bytes) return fail(Code::invalid, "'content_b64' is no base64");
  if (bytes->size() > kMaxContentBytes)
    return fail(Code::invalid, "the content has {} bytes; a job carries {} at most", bytes->size(),
                kMaxContentBytes);
  return *std::move(bytes);
}

Result<void> check_members(const Json& payload) {
  for (const auto& [name, value] : payload.items())
    if (std::ranges::count(kMembers, name) == 0)
      return fail(Code::invalid, "a storage job has no member '{}'", escape_controls(name, ""));
  return {};
}

}  // namespace

std::string_view to_text(StorageOp op) { return kOps.at(static_cast<std::size_t>(op)); }

Json to_json(const StorageJob& job) {
  Json payload{{"op", to_text(job.op)}, {"share", job.share}, {"subpath", job.subpath}};
  if (job.op != StorageOp::list) payload["name"] = job.name;
  if (job.op == StorageOp::upload) payload["content_b64"] = crypto::to_base64(job.content);
  if (job.offset) payload["offset"] = *job.offset;
  if (job.length) payload["length"] = *job.length;
  if (job.cursor) payload["cursor"] = *job.cursor;
  return payload;
}

Result<StorageJob> read_storage_job(const Json& payload) {
  TRY(require_object(payload));
  TRY(check_members(payload));
  StorageJob job;
  job.op = TRY(read_op(TRY(text_field(payload, "op")).value_or("")));
  job.share = TRY(text_field(payload, "share")).value_or("");
  TRY(check_share(job.share));
  job.subpath = TRY(clean_subpath(TRY(text_field(payload, "subpath")).value_or("")));
  if (job.op != StorageOp::list) {
    job.name = TRY(text_field(payload, "name")).value_or("");
    TRY(check_job_file_name(job.name));
  }
  if (job.op == StorageOp::upload) job.content = TRY(read_content(payload));
  job.offset = TRY(read_position(payload, "offset"));
  job.length = TRY(read_position(payload, "length"));
  job.cursor = TRY(text_field(payload, "cursor"));
  return job;
}

Result<void> check_share(std::string_view share) {
  bool is_good = !share.empty() && share.size() <= kMaxShareChars && std::ranges::all_of(share, [](char c) {
    return is_alphanumeric(c) || c == '_' || c == '-';
  });
  if (is_good) return {};
  return fail(Code::invalid, "the share '{}' is no name: 1 to {} letters, digits, '_' and '-'",
              escape_controls(share, ""), kMaxShareChars);
}

Result<std::string> clean_subpath(std::string_view subpath) {
  std::string path(trim(subpath));
  std::ranges::replace(path, '\\', '/');
  auto refuse = [&] {
    return fail(
        Code::invalid,
        "the subpath '{}' is refused: give folders beneath the share, as in 'a/b', each beginning with "
        "a letter or digit and then of letters, digits, '.', '_' and '-'",
        escape_controls(subpath, ""));
  };
  if (path.starts_with('/')) return refuse();
  if (path.ends_with('/')) path.pop_back();
  for (std::size_t at = 0; !path.empty() && at <= path.size();) {
    auto end = std::min(path.find('/', at), path.size());
    if (!is_plain_name(std::string_view(path).substr(at, end - at), kMaxSegmentChars)) return refuse();
    at = end + 1;
  }
  return path;
}

Result<void> check_job_file_name(std::string_view name) {
  if (is_plain_name(name, kMaxJobNameChars)) return {};
  return fail(Code::invalid,
              "the name '{}' is refused: a letter or digit first, then letters, digits, '.', '_' and '-', {} "
              "characters at most",
              escape_controls(name, ""), kMaxJobNameChars);
}

}  // namespace dash::agent
