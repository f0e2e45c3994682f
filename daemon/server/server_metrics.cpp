// The metrics of connections, buffers and pools, as /metrics shows them.
#include <array>

#include "daemon/server/dispatch.hpp"

namespace dash::daemon {

std::string Dispatcher::metrics_text() const {
  auto text = metrics_.requests_text();
  text += metric_header("dashctl_connections", "gauge", "Open connections.");
  text += metric_line("dashctl_connections", "", connections_.count());
  text += metric_header("dashctl_part_buffers_free", "gauge", "Transfer buffers of 8 MiB that are free.");
  text += metric_line("dashctl_part_buffers_free", "", buffers_.available());
  const std::array pools = {&fast_, &login_, &policy_, &store_, &health_};
  using Value = std::uint64_t (*)(const ThreadPool::Load&);
  auto per_pool = [&](std::string_view name, std::string_view type, std::string_view help, Value value) {
    text += metric_header(name, type, help);
    for (const auto* pool : pools)
      text += metric_line(name, metric_label("pool", pool->name()), value(pool->load()));
  };
  using Load = const ThreadPool::Load&;
  per_pool("dashctl_pool_threads", "gauge", "Threads of a worker pool.",
           [](Load l) -> std::uint64_t { return l.threads; });
  per_pool("dashctl_pool_busy", "gauge", "Threads at work.", [](Load l) -> std::uint64_t { return l.busy; });
  per_pool("dashctl_pool_queued", "gauge", "Requests that wait.",
           [](Load l) -> std::uint64_t { return l.queued; });
  per_pool("dashctl_pool_refused_total", "counter", "Requests refused because the queue was full.",
           [](Load l) -> std::uint64_t { return l.refused; });
  return text;
}

}  // namespace dash::daemon
