#include "core/app/health.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/log.hpp"
#include "core/config/settings.hpp"
#include "core/db/sql.hpp"
#include "core/identity/directory.hpp"

namespace dash::app {
namespace {

constexpr off_t kMinFreeBytes = 256 << 10;  // less free space counts as none

constexpr std::string_view kKeyCheckText = "key check";  // the name and the text of the sealed check value

// What the database shows about the key of its settings.
struct KeyEvidence {
  bool is_recorded = false, is_right = false;  // right: the recorded key is this instance's
  std::size_t settings = 0, unreadable = 0;    // counted when it is not
  bool all_readable() const { return unreadable == 0; }
  bool none_readable() const { return settings > 0 && unreadable == settings; }
};

Result<KeyEvidence> read_key_evidence(Application& app) {
  KeyEvidence out;
  TRY(app.sql.read([&](db::Transaction& tx) -> Result<void> {
    auto rows = TRY(tx.query("SELECT sealed FROM key_check WHERE one = 1"));
    out.is_recorded = !rows.empty();
    out.is_right = out.is_recorded && app.config.open(kKeyCheckText, rows[0].blob(0));
    return {};
  }));
  if (out.is_right) return out;
  out.settings = TRY(app.config.keys()).size();
  out.unreadable = TRY(app.config.unreadable_keys()).size();
  return out;
}

// Opens a file without a name, else one that has a name for a moment.
int open_temporary(const std::string& folder) {
  int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return fd;
  auto name = folder + "/.space-check-XXXXXX";
  fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd >= 0) ::unlink(name.c_str());
  return fd;
}

Failure disk_failure(int error) {
  std::string message = "the data directory cannot be written; check its disk, owner and mode";
  if (error == ENOSPC || error == EDQUOT)
    message = "the disk of the data directory is full; free some space, or nothing more can be written";
  return Failure(
      Error{.code = Code::busy, .message = std::move(message), .detail = ::strerrordesc_np(error)});
}

}  // namespace

Result<void> check_database_reads(Application& app) {
  TRY(app.directory.is_set_up());
  return {};
}

Result<void> check_key(Application& app) {
  auto found = TRY(read_key_evidence(app));
  if (found.is_right || (found.is_recorded ? found.all_readable() : !found.none_readable())) return {};
  return fail(Code::integrity, "{} settings were written with another key; put the right key back",
              found.unreadable);
}

Result<void> check_settings_readable(Application& app) {
  auto settings = TRY(app.settings.snapshot(config::kAllSettings));
  const auto& unreadable = settings->unreadable();
  if (unreadable.empty()) return {};
  return fail(Code::integrity, "cannot be opened and read as empty, set them again: {}",
              fmt::join(unreadable, ", "));
}

Result<void> check_database_writes(Application& app) {
  return app.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(tx.exec("UPDATE write_check SET at = $1 WHERE one = 1", {to_micros(app.clock.now())}));
    return {};
  });
}

Result<void> check_disk(const std::string& folder) {
  int fd = open_temporary(folder);
  if (fd < 0) return disk_failure(errno);
  int error = ::posix_fallocate(fd, 0, kMinFreeBytes);
  ::close(fd);
  if (error != 0) return disk_failure(error);
  return {};
}

void record_key(Application& app) {
  auto recorded = [&]() -> Result<void> {
    auto found = TRY(read_key_evidence(app));
    if (found.is_right || !found.all_readable()) return {};
    return app.sql.write([&](db::Transaction& tx) -> Result<void> {
      TRY(tx.exec(
          R"(INSERT INTO key_check (one, sealed) VALUES (1, $1)
             ON CONFLICT (one) DO UPDATE SET sealed = $1)",
          {db::Blob{app.config.seal(kKeyCheckText, kKeyCheckText)}}));
      return {};
    });
  }();
  if (!recorded)
    log::warning("app.key_check_not_recorded",
                 {{"cause", recorded.error().message}, {"detail", recorded.error().detail}});
}

}  // namespace dash::app
