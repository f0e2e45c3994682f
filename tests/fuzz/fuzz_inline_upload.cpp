// The body of an inline upload: in pieces and whole must be read alike. The first byte chooses the size of
// the pieces.
#include <cstdint>
#include <cstdlib>

#include "tests/support/inline_reference.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 4096) return 0;
  std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (!dash::storage::same_reading(body, 1 + data[0] % 16)) std::abort();
  return 0;
}
