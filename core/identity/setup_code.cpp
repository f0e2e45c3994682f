#include "core/identity/setup_code.hpp"

#include <unistd.h>

#include "core/base/file.hpp"
#include "core/crypto/hash.hpp"

namespace dash::identity {
namespace {

constexpr std::size_t kMaxBytes = 256;

std::string without_newline(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return text;
}

}  // namespace

Result<Secret> SetupCode::ensure() {
  if (auto stored = read_file(path_, kMaxBytes)) return Secret(without_newline(*std::move(stored)));
  auto created = write_file(path_, crypto::random_hex(16) + "\n", 0600, IfPresent::keep);
  if (!created && created.error().code != Code::conflict) return Failure(created.error());
  return Secret(without_newline(TRY(read_file(path_, kMaxBytes))));
}

Result<void> SetupCode::check(const Secret& given) {
  auto stored = read_file(path_, kMaxBytes);
  if (!stored || given.empty() ||
      !crypto::equal_constant_time(crypto::sha256(without_newline(*stored)), crypto::sha256(given.expose())))
    return fail(Code::forbidden,
                "This instance is not set up; it can be claimed only with the setup code that it printed at "
                "its first "
                "start and keeps in the file 'setup-code' of its data directory.");
  return {};
}

void SetupCode::remove() { ::unlink(path_.c_str()); }

}  // namespace dash::identity
