#include "core/storage/store/smb/messages.hpp"

namespace dash::storage::smb {
namespace {

Result<std::int64_t> number(const Json& json, std::string_view key) {
  auto it = json.find(key);
  if (it == json.end() || !it->is_number_integer())
    return fail(Code::integrity, "the SMB child left out {}", key);
  return it->get<std::int64_t>();
}

Result<std::string> text(const Json& json, std::string_view key) {
  auto value = string_member(json, key);
  if (!value) return fail(Code::integrity, "the SMB child left out {}", key);
  return *std::move(value);
}

}  // namespace

OrderedJson write_share(const Share& share) {
  return {{"server", share.server}, {"share", share.share}, {"folder", share.folder},
          {"domain", share.domain}, {"user", share.user},   {"password", share.password.expose()},
          {"port", share.port}};
}

Result<Share> read_share(const Json& json) {
  Share share;
  share.server = TRY(text(json, "server"));
  share.share = TRY(text(json, "share"));
  share.folder = TRY(text(json, "folder"));
  share.domain = TRY(text(json, "domain"));
  share.user = TRY(text(json, "user"));
  share.password = Secret(TRY(text(json, "password")));
  share.port = static_cast<std::uint16_t>(TRY(number(json, "port")));
  return share;
}

OrderedJson write_entry(const local::FileEntry& entry) {
  return {{"name", entry.name},
          {"kind", static_cast<int>(entry.kind)},
          {"size", entry.size},
          {"modified", to_micros(entry.modified)},
          {"version", entry.version}};
}

Result<local::FileEntry> read_entry(const Json& json) {
  auto kind = TRY(number(json, "kind"));
  if (kind < 0 || kind > static_cast<int>(local::FileKind::other))
    return fail(Code::integrity, "the SMB child knows no such kind");
  local::FileEntry entry;
  entry.name = TRY(text(json, "name"));
  entry.kind = static_cast<local::FileKind>(kind);
  entry.size = static_cast<std::uint64_t>(TRY(number(json, "size")));
  entry.modified = from_micros(TRY(number(json, "modified")));
  entry.version = TRY(text(json, "version"));
  return entry;
}

}  // namespace dash::storage::smb
