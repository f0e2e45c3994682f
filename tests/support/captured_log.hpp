// Collects the log lines that are written during its life.
#pragma once
#include <mutex>
#include <string>
#include <vector>

#include "core/base/log.hpp"

namespace dash {

class CapturedLog {
 public:
  CapturedLog() {
    {
      std::lock_guard lock(mutex());  // a thread of the previous test may still be writing its last line
      lines().clear();
    }
    log::set_sink([](std::string_view line) {
      std::lock_guard lock(mutex());
      lines().emplace_back(line);
    });
  }
  ~CapturedLog() { log::set_sink(nullptr); }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  std::size_t count(std::string_view part) const {
    std::lock_guard lock(mutex());
    std::size_t n = 0;
    for (const auto& line : lines()) n += line.find(part) != std::string::npos;
    return n;
  }

 private:
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  static std::vector<std::string>& lines() {
    static std::vector<std::string> all;
    return all;
  }
};

}  // namespace dash
