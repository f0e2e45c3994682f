#include "core/base/published_samples.hpp"

#include <mutex>

namespace dash::metrics {
namespace {

struct Published {
  std::mutex mutex;
  Samples samples;
};

Published& the_published() {
  static auto* const the_one = new Published();
  return *the_one;
}

}  // namespace

void publish(Samples samples) {
  std::lock_guard lock(the_published().mutex);
  the_published().samples = std::move(samples);
}

Samples published() {
  std::lock_guard lock(the_published().mutex);
  return the_published().samples;
}

}  // namespace dash::metrics
