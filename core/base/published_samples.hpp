// The values that a background thread reads for /metrics, process-wide like the counters. Thread-safe.
#pragma once
#include "core/base/metrics.hpp"

namespace dash::metrics {

// Replaces what was published before.
void publish(Samples samples);
Samples published();

}  // namespace dash::metrics
