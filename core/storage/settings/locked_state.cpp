#include "core/storage/settings/locked_state.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "core/base/fd.hpp"
#include "core/base/file.hpp"
#include "core/base/json.hpp"
#include "core/storage/settings/file_lock.hpp"

namespace dash::storage {
namespace {

constexpr std::string_view kLockIsGone =
    "the lock on this state is not ours any more: somebody ended it while a program ran";

Result<std::string> id_in(const std::string& info) {
  auto json = TRY(parse_json(info));
  auto id = json.is_object() ? string_member(json, "ID").value_or("") : std::string();
  if (id.empty()) return fail(Code::invalid, "the lock's information has no ID");
  return id;
}

// A state beside whose object, or on whose object, the store keeps the lock.
class ObjectState final : public LockedState {
 public:
  ObjectState(StatePlace place, std::string key)
      : LockedState(std::move(place), std::move(key)), lock_key_(place_.lock_key(key_)) {}

  Result<std::string> read() const override {
    auto object = place_.store().head(key_);
    if (!object && object.error().code == Code::not_found) return std::string();
    return place_.read(TRY(std::move(object)));
  }

  Result<std::optional<StateLock>> lock(const std::string& info) override {
    auto id = TRY(id_in(info));
    auto taken = take(id, info);
    if (!taken && taken.error().code != Code::conflict && taken.error().code != Code::precondition)
      return Failure(std::move(taken).error());
    if (!taken) {
      auto found = TRY(holder());
      // The lock of a write whose answer was lost is ours.
      if (!found || found->id != id)
        return found ? found : StateLock{.id = "", .who = "", .operation = "", .created_at = ""};
    }
    lock_id_ = id;
    note_ = info;
    return std::nullopt;
  }

  Result<bool> adopt(const std::string& id) override {
    auto found = TRY(holder());
    if (!found || found->id != id) return false;
    lock_id_ = id;
    if (is_leased()) note_ = TRY(place_.store().find_lease(key_)).value_or("");
    return true;
  }

  Result<void> unlock() override {
    TRY(place_.release_lock(key_, TRY(check_lock())));
    lock_id_.clear();
    return {};
  }

  Result<void> write(std::string_view bytes) override {
    TRY(check_lock());
    PutOptions options;
    if (is_leased()) options.lease = lock_id_, options.lease_note = note_;
    TRY(place_.store().put(key_, bytes, options));
    return check_written(bytes);
  }

 private:
  bool is_leased() const { return place_.lock_style() == StatePlace::LockStyle::lease; }
  Result<void> take(const std::string& id, const std::string& info) {
    if (is_leased()) return place_.store().take_lease(key_, id, info);
    PutOptions only_new;
    only_new.only_if_absent = true;
    TRY(place_.store().put(lock_key_, info, only_new));
    return {};
  }
  Result<StateLock> check_lock() const {
    auto found = TRY(holder());
    if (lock_id_.empty() || !found || found->id != lock_id_) return fail(Code::conflict, "{}", kLockIsGone);
    return *std::move(found);
  }
  const std::string lock_key_;
  std::string note_;  // of our lease
};

// A state in a file. A program locks the file itself (fcntl), and a replaced file is another one: each file
// that takes its name is locked before, and all of them stay locked until the end.
class FileState final : public LockedState {
 public:
  FileState(StatePlace place, std::string key)
      : LockedState(std::move(place), std::move(key)),
        path_(place_.folder() + "/" + key_),
        folder_(path_.substr(0, path_.rfind('/'))),
        info_path_(folder_ + "/" + std::string(kLockInfoFile)) {}

  Result<std::string> read() const override {
    auto text = read_file(path_, kMaxStateBytes);
    if (!text && text.error().code == Code::not_found) return std::string();
    return text;
  }

  Result<std::optional<StateLock>> lock(const std::string& info) override {
    auto id = TRY(id_in(info));
    if (auto found = TRY(holder())) return found;
    TRY(make_folder(folder_, 0700));
    if (!TRY(lock_current_file())) {
      files_.clear();
      auto found = TRY(holder());
      return found ? found : StateLock{.id = "", .who = "", .operation = "", .created_at = ""};
    }
    TRY(write_file(info_path_, info, 0600));
    lock_id_ = id;
    return std::nullopt;
  }

  Result<bool> adopt(const std::string& id) override {
    auto found = TRY(holder());
    if (!found || found->id != id || !TRY(lock_current_file())) return false;
    lock_id_ = id;
    return true;
  }

  Result<void> unlock() override {
    TRY(check_lock());
    // The file of a first run that wrote nothing: a program removes it as well.
    struct stat status {};
    if (::stat(path_.c_str(), &status) == 0 && status.st_size == 0) ::unlink(path_.c_str());
    if (::unlink(info_path_.c_str()) != 0 && errno != ENOENT)
      return fail(Code::upstream, "{} cannot be removed: {}", info_path_, std::strerror(errno));
    files_.clear();
    lock_id_.clear();
    ::rmdir(folder_.c_str());  // only when it is empty
    return {};
  }

  Result<void> write(std::string_view bytes) override {
    TRY(check_lock());
    auto next = path_ + ".new";
    TRY(write_file(next, bytes, 0600));
    Fd file(::open(next.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    if (file.get() < 0 || !lock_file(file.get()) || ::rename(next.c_str(), path_.c_str()) != 0)
      return fail(Code::upstream, "{} cannot be replaced: {}", path_, std::strerror(errno));
    files_.push_back(std::move(file));
    Fd folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0 || ::fsync(folder.get()) != 0)
      return fail(Code::upstream, "{} cannot be written: {}", folder_, std::strerror(errno));
    return check_written(bytes);
  }

 private:
  // Returns false when a program holds it. The file may be replaced between its opening and its lock.
  Result<bool> lock_current_file() {
    for (;;) {
      Fd file(::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
      if (file.get() < 0) return fail(Code::upstream, "{} cannot be opened: {}", path_, std::strerror(errno));
      if (!lock_file(file.get())) return false;
      struct stat ours {
      }, named{};
      bool is_same = ::fstat(file.get(), &ours) == 0 && ::stat(path_.c_str(), &named) == 0 &&
                     ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
      if (!is_same) continue;
      files_.push_back(std::move(file));
      return true;
    }
  }

  Result<void> check_lock() const {
    auto text = read_file(info_path_, kMaxStateBytes);
    if (lock_id_.empty() || !text || read_lock_info(*text, "").id != lock_id_)
      return fail(Code::conflict, "{}", kLockIsGone);
    return {};
  }

  const std::string path_, folder_, info_path_;
  std::vector<Fd> files_;
};

}  // namespace

Result<std::unique_ptr<LockedState>> LockedState::open(StatePlace place, const std::string& job) {
  auto key = TRY(place.find_key(job));
  if (place.is_file_system()) return std::make_unique<FileState>(std::move(place), std::move(key));
  return std::make_unique<ObjectState>(std::move(place), std::move(key));
}

Result<void> LockedState::check_written(std::string_view bytes) const {
  if (TRY(read()) == bytes) return {};
  return fail(Code::integrity, "'{}' was written, and other bytes were read back", shown_key());
}

}  // namespace dash::storage
