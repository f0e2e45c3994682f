// Counts of the daemon in the text format of Prometheus (exposition format 0.0.4), served at /metrics.
// Thread-safe.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

namespace dash::daemon {

class Metrics {
 public:
  // Counts a request. `route` is the pattern, not the path, so that the number of labels stays small.
  void count_request(std::string_view method, std::string_view route, int status,
                     std::chrono::microseconds took);
  std::string requests_text() const;

 private:
  // Upper bounds in seconds, from a cached read to a part on a slow store.
  static constexpr std::array kBounds = {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0};
  using Key = std::tuple<std::string, std::string, int>;  // method, route, status class
  mutable std::mutex mutex_;
  std::map<Key, std::uint64_t> requests_;
  std::array<std::uint64_t, kBounds.size() + 1> buckets_{};
  std::uint64_t count_ = 0;
  double seconds_ = 0;
};

// Returns "# HELP …\n# TYPE … gauge\n"; the caller adds the value lines with metric_line().
std::string metric_header(std::string_view name, std::string_view type, std::string_view help);
std::string metric_line(std::string_view name, std::string_view labels, std::uint64_t value);
// Returns name="value" with the escapes of the format.
std::string metric_label(std::string_view name, std::string_view value);

}  // namespace dash::daemon
