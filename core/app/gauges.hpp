// What /metrics shows of the database: read in the background, so that a database that hangs delays no scrape.
// Thread-safe.
#pragma once
#include <mutex>
#include <string>

#include "core/app/application.hpp"

namespace dash::app {

class Gauges {
 public:
  explicit Gauges(Application& app) : app_(app) {}
  // Reads again, and publishes. The server calls it once before it serves, and then every second. Values that
  // could not be read are missing until they can.
  void tick();
  // Host and port of the address that users see (setting public_base_url), as it was last read; blank when it
  // is not set.
  std::string public_host() const;

 private:
  Application& app_;
  mutable std::mutex mutex_;
  std::string public_host_;
};

// "dash.example:8443" of "https://dash.example:8443/x"; blank for what is no address.
std::string host_of(std::string_view url);

}  // namespace dash::app
