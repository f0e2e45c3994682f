// Google Cloud Storage's JSON and headers, and Oracle's JSON: any bytes read or are refused; nothing that was
// read can leave its place in a URL or a header.
#include <cstdint>
#include <cstdlib>

#include "core/storage/store/bearer.hpp"
#include "core/storage/store/gcs/codec.hpp"
#include "core/storage/store/gcs/versions.hpp"
#include "core/storage/store/oci/codec.hpp"

namespace gcs = dash::storage::gcs;
namespace oci = dash::storage::oci;

namespace {

void check(const gcs::StoredObject& object) {
  if (object.name.empty() || object.generation.find_first_not_of("0123456789") != std::string::npos)
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto object = gcs::parse_object(text)) check(*object);
  if (auto page = gcs::parse_list(text))
    for (const auto& object : page->objects) check(object);
  if (auto progress = gcs::parse_rewrite(text); progress && !progress->object && progress->token.empty())
    std::abort();
  (void)gcs::parse_error(text);
  if (auto kept = gcs::parse_received_size(text); kept && *kept == 0) std::abort();
  if (auto target = gcs::session_target(text))
    if (!target->starts_with('/') || target->find_first_of("\r\n #") != std::string::npos) std::abort();
  if (auto bearer = dash::storage::parse_bearer(text))
    if (bearer->token.expose().find_first_of("\r\n ") != std::string::npos) std::abort();
  if (auto parts = oci::parse_parts(text))
    for (const auto& part : *parts)
      if (part.number < 1 || part.number > 10'000) std::abort();
  (void)oci::parse_list(text);
  (void)oci::parse_uploads(text);
  (void)oci::parse_versions(text, "k");
  (void)gcs::parse_generations(text, "k");
  (void)oci::parse_namespace(text);
  return 0;
}
