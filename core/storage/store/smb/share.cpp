#include "core/storage/store/smb/share.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/base/text.hpp"
#include "core/storage/store/backends.hpp"
#include "core/storage/store/key.hpp"

namespace dash::storage::smb {
namespace {

constexpr std::size_t kMaxNameUnits = 255;

std::string setting(const config::Values& values, std::string_view key) {
  return std::string(trim(value_of(values, key)));
}

std::string cut_first(std::string& path) {
  auto slash = std::min(path.find('/'), path.size());
  auto first = path.substr(0, slash);
  path.erase(0, slash + 1);
  return first;
}

Result<std::uint16_t> read_port(const std::string& text) {
  if (text.empty()) return std::uint16_t{445};
  std::uint16_t port = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0)
    return fail(Code::invalid, "storage_local_port must be a port from 1 to 65535, not '{}'", text);
  return port;
}

// Names that Windows takes for a device, in any folder and with any extension.
bool is_device(std::string_view segment) {
  constexpr std::array<std::string_view, 6> kDevices{"con", "prn", "aux", "nul", "conin$", "conout$"};
  constexpr std::array<std::string_view, 13> kPorts{"0", "1", "2", "3",      "4",      "5",     "6",
                                                    "7", "8", "9", "\u00b9", "\u00b2", "\u00b3"};
  auto stem = lower(trim(segment.substr(0, segment.find('.'))));
  bool is_port = stem.starts_with("com") || stem.starts_with("lpt");
  return std::ranges::find(kDevices, stem) != kDevices.end() ||
         (is_port && std::ranges::find(kPorts, stem.substr(3)) != kPorts.end());
}

// Returns the length in UTF-16 units, which limit a name on a share.
std::size_t utf16_units(std::string_view text) {
  std::size_t units = 0;
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) != 0x80) units += byte >= 0xf0 ? 2 : 1;
  }
  return units;
}

}  // namespace

bool is_unc(std::string_view path) { return path.starts_with("\\\\") || path.starts_with("//"); }

Result<Share> read_share(const config::Values& values) {
  auto path = setting(values, "storage_local_path");
  std::ranges::replace(path, '\\', '/');
  while (path.ends_with('/')) path.pop_back();
  path.erase(0, std::min<std::size_t>(2, path.size()));
  Share share;
  share.server = cut_first(path);
  share.share = cut_first(path);
  share.folder = path;
  if (share.server.empty() || share.share.empty() ||
      share.server.find_first_of("@?#%: ") != std::string::npos)
    return fail(Code::invalid,
                "storage_local_path must be \\\\server\\share[\\folder] or an absolute folder");
  if (!share.folder.empty()) TRY(within("storage_local_path", check_share_path(share.folder)));
  share.user = setting(values, "storage_local_username");
  share.domain = setting(values, "storage_local_domain");
  if (auto slash = share.user.find('\\'); slash != std::string::npos) {
    share.domain = share.user.substr(0, slash);
    share.user.erase(0, slash + 1);
  }
  share.password = Secret(value_of(values, "storage_local_password"));
  share.port = TRY(read_port(setting(values, "storage_local_port")));
  return share;
}

Result<void> check_share_path(std::string_view path) {
  TRY(check_key(path));
  auto refused = fail(Code::invalid, "'{}' cannot be a name on an SMB share", path);
  if (path.find_first_of("\\:*?\"<>|") != path.npos) return refused;
  for (std::size_t from = 0; from <= path.size();) {
    auto end = std::min(path.find('/', from), path.size());
    auto segment = path.substr(from, end - from);
    if (segment.ends_with('.') || segment.ends_with(' ') || is_device(segment) ||
        utf16_units(segment) > kMaxNameUnits)
      return refused;
    from = end + 1;
  }
  return {};
}

}  // namespace dash::storage::smb
