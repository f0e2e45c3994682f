#include "core/agent/remote/shares.hpp"

#include <algorithm>
#include <array>

#include "core/agent/protocol/storage_job.hpp"
#include "core/agent/remote/yaml_file.hpp"
#include "core/base/file.hpp"
#include "core/storage/store/smb/share.hpp"

namespace dash::agent {
namespace {

constexpr std::array<std::string_view, 1> kFileKeys{"shares"};
constexpr std::array<std::string_view, 7> kShareKeys{"name",   "path", "username",        "password",
                                                     "domain", "port", "dashboard_secret"};

Result<std::string> optional_text(const YamlView& entry, std::string_view key) {
  auto value = entry.find(key);
  if (!value || value->node().kind == YamlNode::Kind::null) return std::string();
  return value->text(fmt::format("'{}'", key));
}

Result<void> check_path(const YamlView& entry, const Share& share) {
  if (share.path.empty()) return entry.error(fmt::format("the share '{}' has no 'path'", share.name));
  if (storage::smb::is_unc(share.path)) {
    auto checked = storage::smb::read_share({{"storage_local_path", share.path}});
    if (!checked) return entry.error("'path' is no share: write \\\\server\\share, in single quotes");
    return {};
  }
  if (share.path.starts_with('/')) return {};
  return entry.error("'path' must be an absolute path, or \\\\server\\share");
}

Result<void> check_dashboard_secret(const YamlView& entry, Shares& shares, Share& share) {
  if (!share.has_dashboard_secret) return {};
  if (!storage::smb::is_unc(share.path))
    return entry.error("'dashboard_secret' is for a path \\\\server\\share only");
  if (share.username.empty()) return entry.error("'dashboard_secret' needs a 'username'");
  if (share.password.empty()) return {};
  share.password = Secret();
  shares.warnings.push_back(
      entry
          .error(fmt::format("the password of the share '{}' is ignored: the dashboard holds it", share.name))
          .value()
          .message);
  return {};
}

Result<Share> read_share(const YamlView& entry, Shares& shares) {
  TRY(entry.check_keys("a share", kShareKeys));
  Share share{TRY(optional_text(entry, "name"))};
  if (auto checked = check_share(share.name); !checked) return entry.error(checked.error().message);
  share.path = TRY(optional_text(entry, "path"));
  while (share.path.size() > 1 && (share.path.ends_with('/') || share.path.ends_with('\\')))
    share.path.pop_back();
  share.username = TRY(optional_text(entry, "username"));
  share.domain = TRY(optional_text(entry, "domain"));
  share.password = Secret(TRY(optional_text(entry, "password")));
  if (auto port = entry.find("port")) share.port = static_cast<int>(TRY(port->number("'port'", 1, 65535)));
  if (auto held = entry.find("dashboard_secret"))
    share.has_dashboard_secret = TRY(held->flag("'dashboard_secret'"));
  TRY(check_path(entry, share));
  TRY(check_dashboard_secret(entry, shares, share));
  return share;
}

}  // namespace

const Share* Shares::find(std::string_view name) const {
  auto found = std::ranges::find(shares, name, &Share::name);
  return found == shares.end() ? nullptr : &*found;
}

Result<Shares> read_shares(std::string_view text, std::string_view file) {
  auto document = TRY(parse_yaml(text, file));
  YamlView root(file, document);
  TRY(root.check_keys("the shares file", kFileKeys));
  auto list = root.find("shares");
  if (!list) return root.error("the shares file has no 'shares'");
  Shares out;
  for (const auto& entry : TRY(list->list("'shares'"))) {
    auto share = TRY(read_share(entry, out));
    if (out.find(share.name)) return entry.error(fmt::format("the share '{}' occurs twice", share.name));
    out.shares.push_back(std::move(share));
  }
  return out;
}

Result<Shares> load_shares(const std::string& path) {
  auto text = read_file(path, kMaxYamlBytes);
  if (!text && text.error().code == Code::not_found) return Shares();
  if (!text) return fail(Code::usage, "the shares file cannot be read: {}", text.error().message);
  return read_shares(*text, path);
}

}  // namespace dash::agent
