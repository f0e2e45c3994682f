// A machine that runs reach: one that the instance keeps, or one that an admin wrote into a request. Reads and
// writes its JSON and checks every member. Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/json.hpp"
#include "core/base/secret.hpp"

namespace dash::automation {

enum class Connection { ssh, winrm, local };
std::string_view word(Connection connection);
Connection connection_of(std::string_view word);  // ssh for an unknown one

// A secret that starts with "-----BEGIN" is a private key, any other text a password.
enum class SecretKind { none, password, private_key };
std::string_view word(SecretKind kind);  // "", "password", "key"
SecretKind secret_kind_named(std::string_view word);
SecretKind secret_kind_of(const Secret& secret);

struct Host {
  std::string name;             // unique in a run; the address of an ad-hoc host that gives none
  std::string written_address;  // a DNS name or an IP address, as it was written; without brackets
  // What a run connects to, and nothing else: the IP address that was checked, where there is a limit. The
  // written address for winrm, whose certificate names it, and where no limit applies.
  std::string address;
  int port = 0;      // never 0 in a resolved host
  std::string user;  // blank: the account that runs the connection's program
  Connection connection = Connection::ssh;
  // The pinned key. ssh: "<type> <base64>", never empty in a resolved host. winrm: PEM certificates that are
  // trusted beside the system's roots, or empty.
  std::string host_key;
  Json variables = Json::object();
  std::vector<std::string> groups;
  std::optional<std::string> workgroup;  // of a kept host; none: for admins only
  Secret secret;
  SecretKind secret_kind = SecretKind::none;  // known also where the secret was not opened
  bool is_kept = false;
  Time created_at{};
  std::string created_by;
};

// {name, address, port, user, connection, host_key, fingerprint, variables, groups, workgroup, secret_kind,
// created_at, created_by}: never the secret.
OrderedJson to_json(const Host& host);
// Returns the host's own port, else the one of its connection: 22, or 5986 for winrm.
int port_of(const Host& host);
// "SHA256:…" of an ssh key, as ssh-keygen prints it; empty without one.
std::string fingerprint_of(const Host& host);

// The whole host, its secret too, for the sealed parameters of a job.
Json to_parameters(const Host& host);
Result<Host> host_of_parameters(const Json& parameters);

// Reads the body of POST /api/hosts. Code::validation (422) for a missing, unknown or mistyped member and for
// a secret that no log could hide; Code::invalid for a value that cannot be.
Result<Host> read_host(const Json& body);
// Reads an entry {name, address, port, user, connection, host_key, variables, groups, secret} of `hosts`.
Result<Host> read_ad_hoc_host(const Json& entry);
// Changes the members that `body` has; null clears one. The name stays.
Result<Host> change_host(Host host, const Json& body);

// Checks variables for ansible. Those by which ansible connects are refused: the members of a host are the only
// place of its address and its login. `member` names them in messages.
Result<void> check_variables(std::string_view member, const Json& variables);
// Returns whether the variables ask for another user's rights (ansible_become).
bool uses_become(const Json& variables);
// Returns whether ansible could take the text for true; a template is.
bool is_true_text(std::string_view text);

}  // namespace dash::automation
