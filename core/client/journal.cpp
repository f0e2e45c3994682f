#include "core/client/journal.hpp"

#include <unistd.h>

#include <cstdlib>

#include "core/base/environment.hpp"
#include "core/base/file.hpp"
#include "core/base/json.hpp"
#include "core/crypto/hash.hpp"

namespace dash::client {
namespace {

constexpr std::size_t kMaxJournalBytes = 1u << 20;  // 640 refs and a handle are a fifth of it

}  // namespace

Journal::Journal(const std::string& folder, const std::string& instance, const std::string& user,
                 const FileIdentity& file)
    : folder_(folder) {
  auto identity =
      dump_json(Json{instance, user, file.path, file.device, file.inode, file.size, file.modified_ns});
  path_ = folder + "/" + crypto::to_hex(crypto::sha256(identity)).substr(0, 32) + ".json";
}

std::optional<JournalEntry> Journal::read() const {
  auto text = read_file(path_, kMaxJournalBytes);
  auto json = text ? parse_json(*text) : Result<Json>(Failure(text.error()));
  if (!json || !json->is_object()) return std::nullopt;
  auto handle = string_member(*json, "handle");
  auto refs = json->find("refs");
  if (!handle || refs == json->end() || !refs->is_array()) return std::nullopt;
  JournalEntry upload{*handle, {}};
  for (const auto& ref : *refs) upload.refs.push_back(ref.is_string() ? ref.get<std::string>() : "");
  return upload;
}

// It is written after each part. One that a crash of the machine spoils costs a new upload, and no content.
Result<void> Journal::write(const JournalEntry& upload) const {
  TRY(make_folder(folder_, 0700));
  return write_file(path_, dump_json(Json{{"handle", upload.handle}, {"refs", upload.refs}}), 0600,
                    IfPresent::replace, Durable::no);
}

void Journal::remove() const { ::unlink(path_.c_str()); }

std::string journal_folder() {
  if (auto xdg = environment_variable("XDG_STATE_HOME"); xdg.starts_with('/'))
    return xdg + "/dashctl/uploads";
  return home_folder() + "/.local/state/dashctl/uploads";
}

}  // namespace dash::client
