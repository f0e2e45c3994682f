// Azure Blob Storage's XML: any bytes read or are refused; what was read is sane, and what we write reads
// back.
#include <cstdint>
#include <cstdlib>

#include "core/storage/store/azure_blob/codec.hpp"
#include "core/storage/store/azure_blob/versions.hpp"

namespace azure = dash::storage::azure_blob;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto page = azure::parse_list(text))
    for (const auto& blob : page->blobs)
      if (blob.name.empty()) std::abort();
  (void)azure::parse_versions(text);
  if (auto blocks = azure::parse_blocks(text)) {
    const std::string upload(32, 'a');
    for (const auto& block : *blocks)
      if (auto part = azure::part_of(block.id, upload); part && azure::block_id(upload, *part) != block.id)
        std::abort();
  }
  if (azure::parse_error(text).message.find('\n') != std::string::npos) std::abort();
  return 0;
}
