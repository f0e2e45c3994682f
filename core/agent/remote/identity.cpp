#include "core/agent/remote/identity.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.hpp"
#include "core/base/json.hpp"
#include "core/crypto/aead.hpp"
#include "core/crypto/hash.hpp"

namespace dash::agent {
namespace {

constexpr std::size_t kMaxIdentityBytes = 64u << 10;
constexpr std::size_t kAgentKeyBytes = 32;
constexpr std::string_view kPasswordInfo = "dashctl agent share password v1";

std::string identity_path(const std::string& state_folder) { return state_folder + "/identity.json"; }

Failure unreadable_identity(const std::string& path, std::string_view why) {
  return fail(Code::usage, "{} {}; restore it from a backup, or remove it and enrol this agent anew", path,
              why);
}

Secret password_key(const Identity& identity) {
  return Secret(crypto::hkdf_sha256(identity.key.seed.expose(), "", kPasswordInfo, 32));
}

}  // namespace

Result<Identity> load_identity(const std::string& state_folder) {
  auto path = identity_path(state_folder);
  auto text = read_file(path, kMaxIdentityBytes);
  if (!text && text.error().code == Code::not_found) return Failure(text.error());
  if (!text) return fail(Code::usage, "{}", text.error().message);
  Secret content(*std::move(text));
  auto json = parse_json(content.expose());
  if (!json || !json->is_object()) return unreadable_identity(path, "is no JSON object");
  auto member = [&](const char* name) { return string_member(*json, name).value_or(""); };
  Identity identity;
  identity.agent_id = member("agent_id");
  identity.audience = member("audience");
  identity.dashboard_public_key = member("dashboard_public_key");
  identity.url = member("url");
  identity.ca_bundle = member("ca_bundle");
  auto seed = crypto::from_base64(member("private_key"));
  auto dashboard = crypto::from_base64(identity.dashboard_public_key);
  if (identity.agent_id.empty() || identity.audience.empty() || !seed || seed->size() != kAgentKeyBytes ||
      !dashboard || dashboard->size() != kAgentKeyBytes)
    return unreadable_identity(path, "lacks a member, or has one that is none");
  identity.key = crypto::ed25519_from_seed(Secret(*std::move(seed)));
  return identity;
}

Result<void> save_identity(const std::string& state_folder, const Identity& identity) {
  OrderedJson json{{"agent_id", identity.agent_id},
                   {"private_key", crypto::to_base64(identity.key.seed.expose())},
                   {"dashboard_public_key", identity.dashboard_public_key},
                   {"audience", identity.audience},
                   {"url", identity.url},
                   {"ca_bundle", identity.ca_bundle}};
  Secret text(dump_json(json));
  return write_file(identity_path(state_folder), text.expose(), 0600, IfPresent::keep);
}

Result<void> probe_state_folder(const std::string& state_folder) {
  auto refuse = [&](std::string_view why) {
    return fail(Code::usage, "the state folder {} cannot keep this agent's key: {}", state_folder, why);
  };
  if (auto made = make_folder(state_folder, 0700); !made) return refuse(made.error().message);
  auto probe = state_folder + "/.probe-" + crypto::random_hex(8);
  if (auto written = write_file(probe, "probe", 0600); !written) return refuse(written.error().message);
  struct stat info {};
  bool is_private = ::stat(probe.c_str(), &info) == 0 && (info.st_mode & 0777) == 0600;
  ::unlink(probe.c_str());
  if (!is_private) return refuse("files there do not keep the mode 0600");
  return {};
}

Result<Fd> lock_state_folder(const std::string& state_folder) {
  Fd folder(::open(state_folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) return fail(Code::usage, "the state folder {} cannot be opened", state_folder);
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(Code::conflict, "another agent runs with the state folder {}", state_folder);
  return folder;
}

std::string seal_password(const Identity& identity, const Secret& password) {
  return std::string(kSealedPrefix) +
         crypto::to_base64(crypto::seal(password_key(identity), password.expose(), kPasswordInfo));
}

Result<Secret> open_sealed_password(const Identity& identity, std::string_view sealed) {
  if (sealed.starts_with(kSealedPrefix)) sealed.remove_prefix(kSealedPrefix.size());
  auto bytes = crypto::from_base64(sealed);
  auto password = bytes ? crypto::open(password_key(identity), *bytes, kPasswordInfo)
                        : Result<std::string>(fail(Code::integrity, "no base64"));
  if (password) return Secret(*std::move(password));
  return fail(
      Code::usage,
      "the sealed password was made by another agent, or was changed; make it anew with dashctl agent "
      "seal");
}

}  // namespace dash::agent
