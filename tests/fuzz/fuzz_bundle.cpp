// A bundle is a file that any user may have edited: whatever it holds, reading and selecting ends in a bundle
// or in a refusal.
#include <cstddef>
#include <cstdint>

#include "core/migrate/selection.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto bundle = dash::migrate::parse_bundle({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!bundle) return 0;
  for (bool replace : {false, true}) {
    dash::migrate::Selection selection;
    selection.replace_regions = replace;
    auto selected = *bundle;
    (void)dash::migrate::select(selected, selection, "fuzz");
  }
  // An unedited bundle of our own must be readable.
  auto again = dash::migrate::parse_bundle(dash::migrate::write_bundle(*bundle), "fuzz");
  if (!again || again->config != bundle->config || again->regions != bundle->regions) __builtin_trap();
  return 0;
}
