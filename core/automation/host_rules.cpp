#include "core/automation/host_rules.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "core/base/shape.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/config/registry.hpp"
#include "core/config/vault_reference.hpp"
#include "core/crypto/hash.hpp"
#include "core/net/ssh/ssh_key.hpp"

namespace dash::automation {
namespace {

constexpr std::size_t kMaxName = 253;  // of a DNS name
constexpr std::size_t kMaxUser = 256;
constexpr std::size_t kMaxSecret = 64u << 10;
constexpr std::size_t kMaxVariables = 64u << 10;
constexpr std::array<std::string_view, 2> kOwnGroups{"all", "ungrouped"};  // of ansible
constexpr std::array<std::string_view, 5> kHostKeyTypes{
    "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"};
// Variables of ansible that do not decide where and how it connects.
constexpr std::array<std::string_view, 8> kPlainVariables{
    "ansible_become",     "ansible_become_user",     "ansible_become_method",
    "ansible_become_exe", "ansible_become_flags",    "ansible_python_interpreter",
    "ansible_shell_type", "ansible_shell_executable"};

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool has_only(std::string_view text, std::string_view more) {
  return std::ranges::all_of(text,
                             [&](char c) { return is_letter_or_digit(c) || more.find(c) != more.npos; });
}

bool is_ansible_group(std::string_view name) {
  return std::ranges::find(kOwnGroups, lower(name)) != kOwnGroups.end();
}

Result<Secret> read_private_key(const Secret& secret) {
  std::string text;
  for (char c : secret.expose())
    if (c != '\r') text += c;
  if (!text.ends_with('\n')) text += '\n';
  Secret key(std::move(text));
  auto first_line = std::string_view(key.expose()).substr(0, key.expose().find('\n'));
  if (first_line.find("PRIVATE KEY-----") == first_line.npos)
    return fail(Code::invalid, "the secret starts like a PEM file and holds no private key");
  if (net::read_key_info(key.expose()).is_locked)
    return fail(Code::invalid,
                "the private key is encrypted, and nobody types its passphrase in a run: make one without a "
                "passphrase (ssh-keygen -p)");
  return key;
}

Result<void> check_winrm(const Host& host) {
  if (host.secret_kind == SecretKind::private_key)
    return fail(Code::invalid, "a host with connection winrm logs in with a password, not with a key");
  if (host.host_key.empty() || host.host_key.starts_with("-----BEGIN CERTIFICATE-----")) return {};
  return fail(Code::invalid,
              "the host_key of a host with connection winrm is the certificate to trust, as PEM; null where "
              "the system's roots do");
}

}  // namespace

Result<void> check_host_name(const std::string& name) {
  if (name.empty() || name.size() > kMaxName || !is_letter_or_digit(name[0]) || !has_only(name, "._-"))
    return fail(Code::invalid,
                "the name of a host has 1 to {} letters, digits, '.', '_' and '-', and starts with a letter "
                "or a digit",
                kMaxName);
  if (is_ansible_group(name))
    return fail(Code::invalid, "'{}' is a group of ansible; choose another name", name);
  return {};
}

Result<void> check_group_name(const std::string& name) {
  bool is_name = !name.empty() && name.size() <= kMaxName && (is_letter_or_digit(name[0]) || name[0] == '_');
  if (!is_name || !has_only(name, "_-."))
    return fail(Code::invalid, "the name of a group has letters, digits, '_', '-' and '.'");
  if (is_ansible_group(name))
    return fail(Code::invalid, "every host is in the group '{}' already or not", name);
  return {};
}

Result<void> check_host_user(const std::string& user) {
  if (user.size() > kMaxUser || user.starts_with('-') || has_control_character(user))
    return fail(Code::invalid, "user has at most {} bytes, no control characters and no '-' at its start",
                kMaxUser);
  return {};
}

Result<std::string> read_address(std::string text) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  bool is_plain = text.size() <= kMaxName && !text.starts_with('-') && has_only(text, ".:_-%");
  in6_addr parsed{};
  bool has_colon = text.find(':') != text.npos;
  bool is_v6 = has_colon && ::inet_pton(AF_INET6, text.substr(0, text.find('%')).c_str(), &parsed) == 1;
  if (is_plain && (!has_colon || is_v6)) return text;
  return fail(Code::invalid, "address is a DNS name or an IP address; the port is a member of its own");
}

Result<Secret> read_host_secret(Secret secret) {
  const auto& text = secret.expose();
  if (text.empty()) return Secret();
  if (auto scheme = config::vault_scheme(text); !scheme.empty())
    return fail(Code::invalid,
                "the secret is a reference to a vault ({}://…), and references are not resolved: store the "
                "password or the key itself",
                scheme);
  if (config::is_masked(text)) return fail(Code::invalid, "the secret is a mask, not a password or a key");
  if (text.size() < kMinSecretBytes)
    return wrong_value("secret", fmt::format("needs at least {} bytes: a shorter one could not be hidden in "
                                             "a log",
                                             kMinSecretBytes));
  if (text.size() > kMaxSecret) return fail(Code::invalid, "the secret has more than {} bytes", kMaxSecret);
  if (secret_kind_of(secret) == SecretKind::private_key) return read_private_key(secret);
  if (has_control_character(text)) return fail(Code::invalid, "the password holds a control character");
  return secret;
}

Result<net::HostKey> parse_host_key(std::string_view text) {
  std::vector<std::string> words;
  auto rest = trim(text);
  while (!rest.empty()) {
    words.emplace_back(rest.substr(0, rest.find_first_of(" \t")));
    rest = trim(rest.substr(words.back().size()));
  }
  auto type = std::ranges::find_if(words, [](const std::string& known) {
    return std::ranges::find(kHostKeyTypes, known) != kHostKeyTypes.end();
  });
  auto place = type - words.begin();
  if (!has_control_character(text) && type != words.end() && place <= 1 && type + 1 != words.end())
    if (auto blob = crypto::from_base64(*(type + 1)); blob && net::key_type(*blob) == *type)
      return net::HostKey{*type, *std::move(blob)};
  return fail(Code::invalid,
              "host_key is a line such as 'ssh-ed25519 AAAA…', as ssh-keyscan prints it; the types are {}",
              fmt::join(kHostKeyTypes, ", "));
}

std::string host_key_text(const net::HostKey& key) {
  return fmt::format("{} {}", key.type, crypto::to_base64(key.blob));
}

Result<void> check_host(Host& host) {
  if (host.connection == Connection::winrm) TRY(check_winrm(host));
  if (host.connection == Connection::ssh && !host.host_key.empty())
    host.host_key = host_key_text(TRY(parse_host_key(host.host_key)));
  if (host.connection == Connection::local && host.workgroup)
    return fail(Code::invalid, "a host with connection local is for admins: it belongs to no workgroup");
  return {};
}

Result<void> check_variables(std::string_view member, const Json& variables) {
  if (!variables.is_object()) return wrong_type(member, "object");
  if (dump_json(variables).size() > kMaxVariables)
    return fail(Code::invalid, "{} has more than {} bytes", member, kMaxVariables);
  for (const auto& [name, value] : variables.items()) {
    if (name.empty() || (name[0] >= '0' && name[0] <= '9') || !has_only(name, "_"))
      return fail(Code::invalid,
                  "{}: a variable's name has letters, digits and '_', and no digit at its start", member);
    if (!lower(name).starts_with("ansible_") ||
        std::ranges::find(kPlainVariables, name) != kPlainVariables.end())
      continue;
    return fail(
        Code::invalid,
        "{}: '{}' is not a variable that can be given here. A host's address, port, user, connection and "
        "secret are members of its own, a password for become is one of secret_vars; of ansible's "
        "variables only these are taken: {}",
        member, name, fmt::join(kPlainVariables, ", "));
  }
  return {};
}

bool uses_become(const Json& variables) {
  auto it = variables.find("ansible_become");
  if (it == variables.end() || it->is_null()) return false;
  if (it->is_boolean()) return it->get<bool>();
  if (it->is_number_integer()) return *it != 0;
  if (!it->is_string()) return true;
  return is_true_text(it->get_ref<const std::string&>());
}

bool is_true_text(std::string_view text) {
  constexpr std::array<std::string_view, 9> kNo{"", "0", "f", "false", "n", "no", "off", "~", "null"};
  return std::ranges::find(kNo, lower(trim(text))) == kNo.end();
}

}  // namespace dash::automation
