#include "core/net/ssh/ssh_host.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "core/base/fd.hpp"
#include "core/base/file.hpp"

namespace dash::net {
namespace {

constexpr std::size_t kMaxFile = 16u << 20;
constexpr std::string_view kSystemFile = "/etc/ssh/ssh_known_hosts";

std::string lines_of(const std::string& path) {
  auto text = read_file(path, kMaxFile).value_or("");
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return text;
}

}  // namespace

std::string ssh_file(const std::string& name) { return home_folder() + "/.ssh/" + name; }

KnownHosts::KnownHosts(const std::string& file) : file_(file.empty() ? ssh_file("known_hosts") : file) {
  text_ = lines_of(file_);
  if (file.empty()) text_ += lines_of(std::string(kSystemFile));
}

std::vector<std::string> offered_key_types(std::vector<std::string> first) {
  std::erase(first, "");
  for (auto type :
       {"ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"})
    if (std::ranges::find(first, type) == first.end()) first.emplace_back(type);
  return first;
}

std::vector<std::string> KnownHosts::key_types(const SshAddress& address) const {
  return offered_key_types(listed_key_types(text_, address.host, address.port));
}

Result<void> KnownHosts::check(const SshAddress& address, const HostKey& key, bool accept_new,
                               const std::function<void(const std::string&)>& note) const {
  auto place = fmt::format("{}:{}", address.host, address.port);
  auto shown = fmt::format("{} {}", key.type, host_key_fingerprint(key));
  switch (check_host_key(text_, address.host, address.port, key)) {
    case HostKeyStatus::known:
      return {};
    case HostKeyStatus::changed:
      return fail(Code::unreachable,
                  "THE HOST KEY OF {} CHANGED: {} lists another than the {} that it shows now. Somebody may "
                  "stand in between; nothing was sent. If the host was set up anew, compare the fingerprint "
                  "there (ssh-keygen -lf) and take the old line out with ssh-keygen -R",
                  place, file_, shown);
    case HostKeyStatus::other_type:
      return fail(Code::unreachable,
                  "{} lists {} with another type of key ({}) than the {} that it shows, which cannot be "
                  "judged by that: compare the fingerprint with what `ssh-keygen -lf` prints on the host and "
                  "add the key (ssh-keyscan), or use --ssh-transport program",
                  file_, place, fmt::join(listed_key_types(text_, address.host, address.port), ", "), shown);
    case HostKeyStatus::revoked:
      return fail(Code::unreachable, "the host key of {} ({}) is marked @revoked in {}: nothing was sent",
                  place, shown, file_);
    case HostKeyStatus::unknown:
      break;
  }
  if (!accept_new)
    return fail(Code::unreachable,
                "{} is not in {}. It shows the key {}: compare that with what `ssh-keygen -lf` prints on the "
                "host, then pass --accept-new-host-key",
                place, file_, shown);
  TRY(append_line(known_hosts_line(address.host, address.port, key)));
  if (note) note(fmt::format("the key of {} was taken into {}: {}", place, file_, shown));
  return {};
}

Result<void> KnownHosts::append_line(const std::string& line) const {
  if (auto slash = file_.rfind('/'); slash != file_.npos && slash > 0)
    TRY(make_folder(file_.substr(0, slash), 0700));
  auto now = read_file(file_, kMaxFile).value_or("");
  auto bytes = (now.empty() || now.ends_with('\n') ? "" : "\n") + line;
  Fd file(::open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (file.get() < 0 || ::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    return fail(Code::invalid, "cannot write the host's key to {}: {}", file_, std::strerror(errno));
  return {};
}

}  // namespace dash::net
