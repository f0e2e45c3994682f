// The responses of a store, or of an attacker in its place.
#include <cstdint>
#include <string_view>

#include "core/storage/store/s3/codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dash::storage;
  std::string_view xml(reinterpret_cast<const char*>(data), size);
  auto page = s3::read_list(xml);
  if (page && page->objects.size() > size) __builtin_trap();
  (void)s3::read_upload_id(xml);
  (void)s3::read_parts(xml);
  (void)s3::read_uploads(xml);
  (void)s3::read_versions(xml, "k");
  (void)s3::read_completion(xml);
  (void)s3::read_refusal(xml);
  return 0;
}
