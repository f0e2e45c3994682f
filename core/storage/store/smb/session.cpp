#include "core/storage/store/smb/session.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "core/net/http/http_client.hpp"

namespace dash::storage::smb {
namespace {

using local::entry_of_stat;
using local::FileEntry;

constexpr std::size_t kPiece = 1u << 20;  // more at once gains nothing and takes more memory in the library
constexpr int kTimeoutMs = 20'000;
constexpr std::size_t kEntriesAtOnce = 1000;

// libsmbclient's callback has no parameter for a context; the child has one session.
const Share* g_share = nullptr;

void copy(char* to, int size, const std::string& text) {
  auto n = std::min(text.size(), static_cast<std::size_t>(size - 1));
  std::memcpy(to, text.data(), n);
  to[n] = '\0';
}

void authenticate(const char*, const char*, char* workgroup, int workgroup_size, char* user, int user_size,
                  char* password, int password_size) {
  if (!g_share->domain.empty()) copy(workgroup, workgroup_size, g_share->domain);
  copy(user, user_size, g_share->user);
  copy(password, password_size, g_share->password.expose());
}

Code code_of(int number) {
  switch (number) {
    case ENOENT:
    case ENOTDIR:
      return Code::not_found;
    case EEXIST:
      return Code::conflict;
    case EISDIR:
    case ENAMETOOLONG:
      return Code::invalid;
    case EACCES:
    case EPERM:
    case ENOSPC:
    case EDQUOT:
    case EROFS:
    case EBUSY:
    case ETXTBSY:
    case ENOTEMPTY:
      return Code::upstream;
    default:
      return Code::unreachable;
  }
}

Failure smb_error(std::string_view what, std::string_view path) {
  auto number = errno;
  bool is_refusal = number == EACCES || number == EPERM;
  // The library's error for a server whose name it cannot resolve.
  bool is_nobody = number == EINVAL;
  return fail(
      code_of(number), "cannot {} '{}' on the share: {}{}", what, path, std::strerror(number),
      is_refusal
          ? "; check the credentials (storage_local_username, storage_local_password) and their permissions"
      : is_nobody ? "; check the name of the server in storage_local_path"
                  : "");
}

std::string last_segment(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// A file of the library, closed on every way out.
class File {
 public:
  File(const Library& smb, int number) : smb_(smb), number_(number) {}
  ~File() {
    if (number_ >= 0) smb_.close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return number_; }
  bool close() { return smb_.close(std::exchange(number_, -1)) == 0; }

 private:
  const Library& smb_;
  int number_;
};

}  // namespace

SmbSession::SmbSession(Library library, const Share& share)
    : smb_(library),
      base_(fmt::format("smb://{}/{}", share.server, net::percent_encode(share.share))),
      folder_(share.folder) {}

Result<std::unique_ptr<SmbSession>> SmbSession::open(Share share) {
  static Share stored_share;
  auto library = TRY(load_library());
  stored_share = std::move(share);
  g_share = &stored_share;
  auto* context = library.new_context();
  if (!context) return fail(Code::internal, "libsmbclient has no memory");
  library.set_debug(context, 0);
  library.set_auth(context, authenticate);
  library.set_port(context, stored_share.port);
  library.set_timeout(context, kTimeoutMs);
  library.set_no_anonymous(context, stored_share.user.empty() ? 0 : 1);
  if (!library.init_context(context))
    return fail(Code::unsupported, "libsmbclient does not start: {}", std::strerror(errno));
  library.set_context(context);
  return std::unique_ptr<SmbSession>(new SmbSession(library, stored_share));
}

std::string SmbSession::url(std::string_view path) const {
  auto out = base_;
  for (std::string_view part : {std::string_view(folder_), path})
    if (!part.empty()) out += "/" + net::percent_encode(part, true);
  return out;
}

Result<FileEntry> SmbSession::stat(const std::string& path) {
  struct stat st {};
  if (smb_.stat(url(path).c_str(), &st) != 0) return smb_error("look up", path);
  return entry_of_stat(last_segment(path), st);
}

Result<std::vector<FileEntry>> SmbSession::list(const std::string& folder) {
  constexpr std::uint64_t kOwn = 0;
  TRY(open_folder(kOwn, folder));
  std::vector<FileEntry> entries;
  for (auto piece = TRY(read_folder(kOwn)); !piece.empty(); piece = TRY(read_folder(kOwn)))
    std::ranges::move(piece, std::back_inserter(entries));
  return entries;
}

Result<void> SmbSession::open_folder(std::uint64_t reading, const std::string& folder) {
  int number = smb_.opendir(url(folder).c_str());
  if (number < 0) return smb_error("list", folder);
  open_folders_[reading] = number;
  return {};
}

Result<std::vector<FileEntry>> SmbSession::read_folder(std::uint64_t reading) {
  auto found = open_folders_.find(reading);
  if (found == open_folders_.end())
    return fail(Code::unreachable, "the connection was lost while a folder of the share was read; try again");
  std::vector<FileEntry> entries;
  struct stat st {};
  while (entries.size() < kEntriesAtOnce) {
    const auto* item = smb_.readdir(static_cast<unsigned>(found->second), &st);
    if (!item) break;
    std::string name = item->name;
    if (name != "." && name != "..") entries.push_back(entry_of_stat(std::move(name), st));
  }
  if (entries.empty()) close_folder(reading);
  return entries;
}

void SmbSession::close_folder(std::uint64_t reading) {
  auto found = open_folders_.extract(reading);
  if (!found.empty()) smb_.closedir(found.mapped());
}

Result<std::size_t> SmbSession::read(const std::string& path, std::uint64_t offset,
                                     std::string_view must_match, std::span<char> out) {
  File file(smb_, smb_.open(url(path).c_str(), O_RDONLY, 0));
  struct stat st {};
  if (file.get() < 0 || smb_.fstat(file.get(), &st) != 0) return smb_error("read", path);
  if (!must_match.empty() && entry_of_stat("", st).version != must_match)
    return fail(Code::precondition, "'{}' is not the version that was requested", path);
  if (offset >= static_cast<std::uint64_t>(st.st_size)) return 0;
  if (smb_.lseek(file.get(), static_cast<off_t>(offset), SEEK_SET) < 0) return smb_error("read", path);
  std::size_t done = 0;
  while (done < out.size()) {
    auto n = smb_.read(file.get(), out.data() + done, std::min(kPiece, out.size() - done));
    if (n < 0) return smb_error("read", path);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

Result<void> SmbSession::write(const std::string& path, std::uint64_t offset, std::string_view bytes) {
  File file(smb_, smb_.open(url(path).c_str(), O_WRONLY | O_CREAT, 0640));
  if (file.get() < 0) return smb_error("write", path);
  if (offset > 0 && smb_.lseek(file.get(), static_cast<off_t>(offset), SEEK_SET) < 0)
    return smb_error("write", path);
  while (!bytes.empty()) {
    auto n = smb_.write(file.get(), bytes.data(), std::min(kPiece, bytes.size()));
    if (n <= 0) return smb_error("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  if (!file.close()) return smb_error("write", path);
  return {};
}

Result<void> SmbSession::make_one(const std::string& url_of_folder) {
  if (smb_.mkdir(url_of_folder.c_str(), 0750) == 0 || errno == EEXIST) return {};
  return smb_error("make the folder", url_of_folder);
}

Result<void> SmbSession::make_folder(const std::string& path) {
  struct stat st {};
  if (smb_.stat(url(path).c_str(), &st) == 0) return {};
  auto whole = folder_.empty() || path.empty() ? folder_ + path : folder_ + "/" + path;
  for (std::size_t at = 0; at < whole.size();) {
    auto end = std::min(whole.find('/', at), whole.size());
    TRY(make_one(base_ + "/" + net::percent_encode(std::string_view(whole).substr(0, end), true)));
    at = end + 1;
  }
  return {};
}

// The library replaces by deleting and renaming; it has no other way (SMBC_rename_ctx of Samba 4).
Result<void> SmbSession::rename(const std::string& from, const std::string& to, bool may_replace) {
  if (!may_replace) {  // claims the name, or finds it taken
    File claim(smb_, smb_.open(url(to).c_str(), O_WRONLY | O_CREAT | O_EXCL, 0640));
    if (claim.get() < 0) return smb_error("create", to);
  }
  if (smb_.rename(url(from).c_str(), url(to).c_str()) != 0) return smb_error("write", to);
  return {};
}

Result<void> SmbSession::remove(const std::string& file) {
  if (smb_.unlink(url(file).c_str()) != 0) return smb_error("delete", file);
  return {};
}

Result<void> SmbSession::remove_folder(const std::string& empty_folder) {
  if (smb_.rmdir(url(empty_folder).c_str()) != 0) return smb_error("delete", empty_folder);
  return {};
}

}  // namespace dash::storage::smb
