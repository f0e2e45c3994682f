// What a private key file shows without its passphrase: the type of its key and whether it is encrypted.
// Reads the openssh-key-v1 format (PROTOCOL.key of OpenSSH) and PEM. Pure.
#pragma once
#include <string>
#include <string_view>

namespace dash::net {

struct SshKeyInfo {
  bool is_locked = false;   // a passphrase is needed
  std::string type;         // "ssh-ed25519", "ssh-rsa", …; empty when unknown
  std::string public_blob;  // in SSH wire format; empty when unknown
};

SshKeyInfo read_key_info(std::string_view private_key_file);

// Returns the first string of a public key in wire format: its type.
std::string key_type(std::string_view public_blob);

}  // namespace dash::net
