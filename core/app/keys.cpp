#include "core/app/keys.hpp"

#include <sys/stat.h>

#include "core/base/file.hpp"
#include "core/crypto/hash.hpp"

namespace dash::app {
namespace {

constexpr std::size_t kMaxKeyFileBytes = 4096;
constexpr std::size_t kMinKeyBytes = 16;

// Makes the key when absent. Of two processes that make it at once, one wins.
Result<Secret> load_or_create_key(const std::string& path) {
  if (auto key = read_key(path); key || key.error().code != Code::not_found) return key;
  auto made = write_file(path, crypto::random_hex(32) + "\n", 0600, IfPresent::keep);
  if (!made && made.error().code != Code::conflict) return Failure(made.error());
  return read_key(path);
}

// Opening one without a writer waits for ever. The pipe of a shell's <(command) is a link in /dev, and is read.
bool is_named_pipe(const std::string& path) {
  struct stat st {};
  return ::lstat(path.c_str(), &st) == 0 && S_ISFIFO(st.st_mode);
}

}  // namespace

Result<Secret> read_key(const std::string& path) {
  if (is_named_pipe(path))
    return fail(Code::invalid, "{} is a named pipe; a key is read at every start, so keep it in a file",
                path);
  auto text = TRY(within("key file", read_file(path, kMaxKeyFileBytes)));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  if (text.size() < kMinKeyBytes)
    return fail(Code::invalid, "the key in {} is shorter than {} characters", path, kMinKeyBytes);
  return Secret(std::move(text));
}

Secret InstanceKeys::derive(std::string_view purpose) const {
  return Secret(crypto::hkdf_sha256(signing.expose(), "", purpose, 32));
}

Secret audit_log_key(const InstanceKeys& keys) { return keys.derive("dashctl audit head v1"); }

Result<InstanceKeys> load_keys(const std::string& data_dir, const std::string& signing_file,
                               const std::string& encryption_file) {
  InstanceKeys keys;
  if (!signing_file.empty()) {
    keys.signing = TRY(read_key(signing_file));
  } else {
    keys.signing = TRY(load_or_create_key(data_dir + "/signing.key"));
  }
  if (!encryption_file.empty()) keys.encryption = TRY(read_key(encryption_file));
  return keys;
}

}  // namespace dash::app
