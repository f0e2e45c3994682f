// The known_hosts format of OpenSSH (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT): plain, [host]:port, pattern and
// hashed names, @revoked. It is parsed here because libssh2 matches neither patterns nor markers.
// Certificates are not checked: a @cert-authority line is skipped. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dash::net {

enum class HostKeyStatus {
  known,       // this very key is listed for the host
  unknown,     // the host is not listed
  changed,     // the host is listed with another key of this type
  other_type,  // the host is listed with keys of other types only, so this one cannot be checked
  revoked,     // the key is marked @revoked
};

struct HostKey {
  std::string type;  // ssh-ed25519, …
  std::string blob;  // the public key in SSH wire format
};

HostKeyStatus check_host_key(std::string_view known_hosts, std::string_view host, int port,
                             const HostKey& key);

// Returns the key types under which the host is listed, in order. A client offers them first, so that a host
// does not appear as changed only because it presents another of its keys.
std::vector<std::string> listed_key_types(std::string_view known_hosts, std::string_view host, int port);

// Returns the line to append for the host, with a newline.
std::string known_hosts_line(std::string_view host, int port, const HostKey& key);

// Returns "SHA256:<base64>", as ssh-keygen -l prints it.
std::string host_key_fingerprint(const HostKey& key);

}  // namespace dash::net
