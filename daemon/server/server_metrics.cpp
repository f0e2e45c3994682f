// The metrics of requests, connections, buffers and pools.
#include <array>

#include "daemon/server/dispatch.hpp"

namespace dash::daemon {

void Dispatcher::count_request(std::string_view method, std::string_view route, int status,
                               std::chrono::microseconds took) {
  metrics::add(metrics::kHttpRequests,
               {std::string(method), std::string(route), fmt::format("{}xx", status / 100)});
  metrics::observe(metrics::kHttpSeconds, {}, took);
}

void Dispatcher::add_samples(metrics::Samples& out) const {
  out.push_back({&metrics::kConnections, {}, static_cast<double>(connections_.count())});
  out.push_back({&metrics::kPartBuffersFree, {}, static_cast<double>(buffers_.available())});
  const std::array pools = {&fast_, &login_, &policy_, &store_, &health_};
  for (const auto* pool : pools) {
    auto load = pool->load();
    auto add = [&](const metrics::Metric& metric, std::size_t value) {
      out.push_back({&metric, {std::string(pool->name())}, static_cast<double>(value)});
    };
    add(metrics::kPoolThreads, load.threads);
    add(metrics::kPoolBusy, load.busy);
    add(metrics::kPoolQueued, load.queued);
    add(metrics::kPoolRefused, load.refused);
  }
}

}  // namespace dash::daemon
