#include "core/storage/store/local/root_rules.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/base/file.hpp"
#include "core/base/redact.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"

namespace dash::storage::local {
namespace {

constexpr std::array<std::string_view, 7> kSystemFolders{"/proc", "/sys", "/dev", "/boot",
                                                         "/etc",  "/usr", "/bin"};
constexpr std::array<std::string_view, 9> kSharedFolders{"/",    "/root", "/home", "/var", "/var/lib",
                                                         "/run", "/tmp",  "/opt",  "/srv"};
constexpr std::string_view kKeyFolder = ".ssh";
constexpr std::string_view kOwnAssets = "assets";  // of the data folder

std::vector<std::string> system_folders() {
  std::vector<std::string> folders(kSystemFolders.begin(), kSystemFolders.end());
  folders.emplace_back("/sbin");
  std::error_code ec;
  for (const auto& entry : std::filesystem::directory_iterator("/", ec))
    if (entry.path().filename().string().starts_with("lib")) folders.push_back(entry.path());
  return folders;
}

bool has_key_folder(std::string_view path) {
  return (lower(path) + "/").find(fmt::format("/{}/", kKeyFolder)) != std::string::npos;
}

// A folder that cannot be read is compared with nothing.
template <class Holds>
bool holds_for(const std::string& folder, Holds holds) {
  if (!folder.starts_with('/')) return false;
  auto position = position_of(folder);
  return position && holds(*position);
}

bool lies_in(const Position& root, const std::string& folder) {
  return holds_for(folder, [&](const Position& position) { return is_within(root, position); });
}
bool is_or_holds(const Position& root, const std::string& folder) {
  return holds_for(folder, [&](const Position& position) { return is_within(position, root); });
}
bool is_folder(const Position& root, const std::string& folder) {
  return holds_for(folder, [&](const Position& position) { return is_same(position, root); });
}

Position parent_position(Position position) {
  if (!position.absent.empty())
    position.absent.pop_back();
  else if (position.chain.size() > 1)
    position.chain.erase(position.chain.begin());
  return position;
}

// Returns the folder of the file as it is named, and the folder of the file where a link leads.
std::vector<std::string> folders_of_file(const std::string& file) {
  std::error_code ec;
  auto named = std::filesystem::absolute(file, ec);
  std::vector<std::string> folders{named.parent_path().string()};
  auto real = std::filesystem::canonical(named, ec);
  if (!ec) folders.push_back(real.parent_path().string());
  return folders;
}

// A symbolic link in its place leads out of the data folder or to another part of it.
bool is_real_folder(const std::string& path) {
  struct stat st {};
  return ::lstat(path.c_str(), &st) != 0 || S_ISDIR(st.st_mode);
}

}  // namespace

// Returns why the folder is refused, as the end of a sentence that begins with its path; "" when it is not.
std::string RootRules::refusal(const Position& root) const {
  if (auto reason = system_refusal(root); !reason.empty()) return reason;
  if (auto reason = own_refusal(root); !reason.empty()) return reason;
  return is_allowed(root) ? "" : "does not lie in a folder that DASHCTL_LOCAL_ROOTS names";
}

std::string RootRules::system_refusal(const Position& root) const {
  for (const auto& folder : system_folders())
    if (lies_in(root, folder)) return fmt::format("lies in {}, which belongs to the system", folder);
  bool will_hold_keys =
      std::ranges::any_of(root.absent, [](const std::string& name) { return lower(name) == kKeyFolder; });
  if (will_hold_keys || has_key_folder(root.path)) return "lies in a folder .ssh, which holds keys";
  for (auto folder : kSharedFolders)
    if (is_folder(root, std::string(folder)))
      return fmt::format("is {} itself, which others use too", folder);
  if (is_folder(parent_position(root), "/home")) return "is the home folder of a user";
  for (const auto& home : {home_folder(), account_home()})
    if (is_folder(root, home)) return "is the home folder of the server's user";
  return "";
}

std::string RootRules::own_refusal(const Position& root) const {
  const auto& data = options_.data_dir;
  if (is_or_holds(root, data)) return "holds the data folder of this instance";
  auto assets = fmt::format("{}/{}", data, kOwnAssets);
  if (lies_in(root, data) && !(is_real_folder(assets) && lies_in(root, assets)))
    return fmt::format("lies in the data folder of this instance, where only {} may hold assets", assets);
  for (const auto& folder : options_.program_folders)
    if (lies_in(root, folder) || is_or_holds(root, folder))
      return "holds or lies in the folder of the rules or of the executors";
  for (const auto& file : options_.secret_files)
    for (const auto& folder : folders_of_file(file))
      if (is_or_holds(root, folder)) return fmt::format("holds {}", file);
  return "";
}

bool RootRules::is_allowed(const Position& root) const {
  if (!options_.allowed) return true;
  std::string_view rest = *options_.allowed;
  while (!rest.empty()) {
    auto end = std::min(rest.find(':'), rest.size());
    if (lies_in(root, std::string(trim(rest.substr(0, end))))) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

Result<void> RootRules::check_positions(const std::vector<Position>& positions,
                                        const std::string& path) const {
  for (const auto& position : positions)
    if (auto reason = refusal(position); !reason.empty())
      return fail(
          Code::invalid,
          "storage_local_path '{}' cannot hold assets: it {}. Choose a folder that is used for nothing "
          "else, such as /srv/dashctl/assets",
          without_userinfo(path), reason);
  return {};
}

Result<void> RootRules::check(const std::string& path) const {
  if (has_control_character(path))
    return fail(Code::invalid, "storage_local_path has a control character; remove it");
  if (!path.starts_with('/'))
    return fail(Code::invalid,
                "storage_local_path must be an absolute path or a UNC path (\\\\server\\share), not '{}'",
                without_userinfo(path));
  if (has_key_folder(path))
    return fail(Code::invalid,
                "storage_local_path '{}' names a folder .ssh, which holds keys; choose another folder",
                without_userinfo(path));
  return check_positions(TRY(all_positions_of(path)), path);
}

Result<void> RootRules::check_opened(int folder, const std::string& path) const {
  return check_positions(TRY(all_positions_of(folder)), path);
}

}  // namespace dash::storage::local
