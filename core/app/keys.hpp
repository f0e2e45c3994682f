// The instance's root secret and the keys derived from it: one for each purpose, so that none works for
// another.
#pragma once
#include <string>

#include "core/base/error.hpp"
#include "core/base/secret.hpp"

namespace dash::app {

struct InstanceKeys {
  Secret signing;     // the text of the key file
  Secret encryption;  // dedicated key for the config store; empty when none is set
  Secret derive(std::string_view purpose) const;  // 32 bytes, HKDF-SHA256 of `signing`
};

// The key of the audit log (audit::Log).
Secret audit_log_key(const InstanceKeys& keys);

// Returns the text of a key file without its line end. Code::invalid when it is too short to be a key.
Result<Secret> read_key(const std::string& path);

// Loads the keys. With `signing_file` empty: <data_dir>/signing.key, made 0600 when absent. A named file must
// exist.
Result<InstanceKeys> load_keys(const std::string& data_dir, const std::string& signing_file,
                               const std::string& encryption_file);

}  // namespace dash::app
