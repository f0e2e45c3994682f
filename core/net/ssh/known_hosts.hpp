// The known_hosts format of OpenSSH (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT): plain, [host]:port, pattern and
// hashed names, @revoked. Read by hand, because libssh2 matches neither patterns nor markers. Certificates
// are not judged: a @cert-authority line is passed over. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dash::net {

enum class HostKeyStatus {
  known,       // this very key is listed for the host
  unknown,     // the host is not listed
  changed,     // the host is listed with another key of this type
  other_type,  // the host is listed with keys of other types only, so this one cannot be judged
  revoked,     // the key is marked so
};

struct HostKey {
  std::string type;  // ssh-ed25519, …
  std::string blob;  // as it is on the wire
};

HostKeyStatus check_host_key(std::string_view known_hosts, std::string_view host, int port,
                             const HostKey& key);

// The key types under which the host is listed, in order: to be asked for first, so that a host is not taken
// for changed only because it shows another of its keys.
std::vector<std::string> listed_key_types(std::string_view known_hosts, std::string_view host, int port);

// A line to append for the host, with a newline.
std::string known_hosts_line(std::string_view host, int port, const HostKey& key);

// "SHA256:<base64>", as ssh-keygen -l prints it.
std::string host_key_fingerprint(const HostKey& key);

}  // namespace dash::net
