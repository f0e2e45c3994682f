// What a run's callback plugin reports (plugins/dashctl_events.py), one JSON object a line. A playbook can
// forge these lines, since it runs with them: they are data about its own hosts and nothing else.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/stream.hpp"

namespace dash::automation {

enum class Outcome { none, skipped, ok, changed, failed, unreachable };
std::string_view word(Outcome outcome);  // "" for none
inline bool is_bad(Outcome outcome) { return outcome == Outcome::failed || outcome == Outcome::unreachable; }

struct RunEvent {
  enum class Kind { lines, outcome, done } kind = Kind::lines;
  std::optional<std::string> host;  // of lines: none when they are of no single host
  std::vector<std::string> lines;
  Outcome outcome = Outcome::none;
  std::string error;
};

// Returns nullopt for a line that is no event.
std::optional<RunEvent> parse_run_event(std::string_view line);

// Cuts bytes into lines of at most kMaxEventBytes and passes those that are events on. A longer line is
// dropped.
class RunEventReader final : public Sink {
 public:
  static constexpr std::size_t kMaxEventBytes = 16u << 20;
  explicit RunEventReader(std::function<void(RunEvent)> on_event) : on_event_(std::move(on_event)) {}
  Result<void> write(std::string_view bytes) override;

 private:
  std::function<void(RunEvent)> on_event_;
  std::string partial_;
  bool is_too_long_ = false;
};

}  // namespace dash::automation
