#include "daemon/server/metrics.hpp"

#include <fmt/format.h>

namespace dash::daemon {

std::string metric_header(std::string_view name, std::string_view type, std::string_view help) {
  return fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
}

std::string metric_line(std::string_view name, std::string_view labels, std::uint64_t value) {
  if (labels.empty()) return fmt::format("{} {}\n", name, value);
  return fmt::format("{}{{{}}} {}\n", name, labels, value);
}

std::string metric_label(std::string_view name, std::string_view value) {
  std::string escaped;
  for (char c : value) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return fmt::format("{}=\"{}\"", name, escaped);
}

void Metrics::count_request(std::string_view method, std::string_view route, int status,
                            std::chrono::microseconds took) {
  double seconds = std::chrono::duration<double>(took).count();
  std::size_t bucket = 0;
  while (bucket < kBounds.size() && seconds > kBounds.at(bucket)) ++bucket;
  std::lock_guard lock(mutex_);
  ++requests_[Key(method, route, status / 100)];
  ++buckets_.at(bucket);
  ++count_;
  seconds_ += seconds;
}

std::string Metrics::requests_text() const {
  constexpr std::string_view kTotal = "dashctl_http_requests_total";
  constexpr std::string_view kSeconds = "dashctl_http_request_seconds";
  std::lock_guard lock(mutex_);
  auto text = metric_header(kTotal, "counter", "Requests answered, by route and status class.");
  for (const auto& [key, value] : requests_) {
    const auto& [method, route, status] = key;
    text += metric_line(kTotal,
                        metric_label("method", method) + "," + metric_label("route", route) + "," +
                            metric_label("status", fmt::format("{}xx", status)),
                        value);
  }
  text += metric_header(kSeconds, "histogram", "From the end of a request's head to the end of its answer.");
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    below += buckets_.at(i);
    auto bound = i < kBounds.size() ? fmt::format("{}", kBounds.at(i)) : "+Inf";
    text += metric_line(fmt::format("{}_bucket", kSeconds), metric_label("le", bound), below);
  }
  text += fmt::format("{}_sum {}\n", kSeconds, seconds_);
  text += metric_line(fmt::format("{}_count", kSeconds), "", count_);
  return text;
}

}  // namespace dash::daemon
