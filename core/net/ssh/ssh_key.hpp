// What a private key file tells without its passphrase: which kind of key it holds and whether it is locked.
// Reads the openssh-key-v1 format (PROTOCOL.key of OpenSSH) and PEM. Pure.
#pragma once
#include <string>
#include <string_view>

namespace dash::net {

struct SshKeyInfo {
  bool is_locked = false;   // a passphrase is needed
  std::string type;         // "ssh-ed25519", "ssh-rsa", …; empty when it cannot be told
  std::string public_blob;  // as agents and servers know it; empty when it cannot be told
};

SshKeyInfo read_key_info(std::string_view private_key_file);

// The first string of a public key as it is on the wire: its type.
std::string key_type(std::string_view public_blob);

}  // namespace dash::net
