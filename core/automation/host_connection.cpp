#include "core/automation/host_connection.hpp"

#include "core/automation/host_rules.hpp"
#include "core/automation/winrm_identify.hpp"
#include "core/net/ssh/ssh.hpp"

namespace dash::automation {
namespace {

// What the handshake showed, and what follows from it.
struct KeyCheck {
  const Host& host;
  bool accept_new_key;
  ConnectionTest& test;

  Result<void> operator()(const net::HostKey& key) const {
    auto shown = host_key_text(key);
    test.result.fingerprint = net::host_key_fingerprint(key);
    if (host.host_key.empty()) return accept(shown);
    if (shown == host.host_key) return {};
    return fail(
        Code::conflict,
        "THE KEY OF HOST '{}' CHANGED: {} is pinned, and it shows {} ({}). Somebody may stand in between; "
        "nothing secret was sent. If the host was set up anew, compare the fingerprint there "
        "(ssh-keygen -lf), run `dashctl host change {} --clear host_key`, then `dashctl host test {} "
        "--accept-new-key`",
        host.name, fingerprint_of(host), test.result.fingerprint, key.type, host.name, host.name);
  }

 private:
  Result<void> accept(const std::string& shown) const {
    if (accept_new_key) {
      test.new_key = shown;
      return {};
    }
    return fail(
        Code::invalid,
        "no key of host '{}' is pinned; it shows {}. Compare that with what `ssh-keygen -lf` prints on the "
        "host, then run `dashctl host test {} --accept-new-key`",
        host.name, test.result.fingerprint, host.name);
  }
};

Error login_error(const Host& host, const Error& error) {
  auto secret = host.secret_kind == SecretKind::private_key ? "key" : "password";
  auto out = make_error(Code::unauthenticated, "host '{}' does not let '{}' in with the kept {}", host.name,
                        host.user, secret);
  out.detail = error.message;
  if (host.secret_kind == SecretKind::private_key && error.message.find("SHA-1") != std::string::npos)
    out.message +=
        "; for this test an ed25519 or ecdsa key is needed, since the library here signs with RSA keys "
        "by SHA-1 only";
  return out;
}

net::SshOptions ssh_options(const Host& host, const KeyCheck& check) {
  net::SshOptions options;
  options.check_host_key = check;
  options.preferred_key_type = host.host_key.substr(0, host.host_key.find(' '));
  if (host.secret_kind == SecretKind::private_key) {
    options.private_key = host.secret;
  } else {
    options.only_password = true;
    options.password = [&host](const std::string&) { return Result<Secret>(host.secret); };
  }
  return options;
}

Result<void> log_in_ssh(const net::SshAddress& address, const net::SshOptions& options) {
  TRY(net::SshSession::open(address, options));
  return {};
}

Result<ConnectionTest> test_ssh(const Host& host, bool accept_new_key) {
  ConnectionTest test;
  KeyCheck check{host, accept_new_key, test};
  net::SshAddress address{host.user, host.address, port_of(host)};
  auto& result = test.result;
  bool has_secret = host.secret_kind != SecretKind::none;
  auto opened = has_secret ? log_in_ssh(address, ssh_options(host, check))
                           : net::check_ssh_host(address, ssh_options(host, check));
  result.is_pinned = !host.host_key.empty() || !test.new_key.empty();
  if (opened) {
    result.ok = true;
    result.is_logged_in = has_secret;
    return test;
  }
  if (opened.error().code == Code::conflict) return Failure(opened.error());
  result.error =
      opened.error().code == Code::unauthenticated ? login_error(host, opened.error()) : opened.error();
  return test;
}

}  // namespace

OrderedJson to_json(const HostTestResult& result) {
  auto or_null = [](const std::string& text) {
    return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
  };
  OrderedJson out{{"ok", result.ok},
                  {"fingerprint", or_null(result.fingerprint)},
                  {"pinned", result.is_pinned},
                  {"logged_in", result.is_logged_in},
                  {"reason", nullptr},
                  {"error", nullptr}};
  if (result.error) {
    out["reason"] = info(result.error->code).word;
    out["error"] = result.error->message;
  }
  return out;
}

Result<ConnectionTest> test_connection(net::HttpClient& http, const Host& host, bool accept_new_key) {
  if (host.connection == Connection::ssh) return test_ssh(host, accept_new_key);
  ConnectionTest test;
  test.result.is_pinned = !host.host_key.empty();
  if (host.connection == Connection::local) {
    test.result.ok = true;
    return test;
  }
  auto identified = identify_winrm(http, host);
  test.result.ok = test.result.is_logged_in = identified.has_value();
  if (!identified) test.result.error = identified.error();
  return test;
}

}  // namespace dash::automation
