#include "core/automation/run_events.hpp"

#include <array>

#include "core/base/json.hpp"

namespace dash::automation {
namespace {

constexpr std::array<std::string_view, 6> kOutcomes{"", "skipped", "ok", "changed", "failed", "unreachable"};

Outcome parse_outcome(std::string_view text) {
  for (std::size_t i = 1; i < kOutcomes.size(); ++i)
    if (kOutcomes[i] == text) return static_cast<Outcome>(i);
  return Outcome::none;
}

}  // namespace

std::string_view word(Outcome outcome) { return kOutcomes.at(static_cast<std::size_t>(outcome)); }

std::optional<RunEvent> parse_run_event(std::string_view line) {
  auto json = parse_json(line);
  if (!json || !json->is_object()) return std::nullopt;
  auto kind = string_member(*json, "event").value_or("");
  RunEvent out;
  out.host = string_member(*json, "host");
  if (kind == "lines") {
    auto lines = json->find("lines");
    if (lines == json->end() || !lines->is_array()) return std::nullopt;
    for (const auto& text : *lines)
      if (text.is_string()) out.lines.push_back(text.get<std::string>());
    return out;
  }
  if (!out.host) return std::nullopt;
  out.kind = kind == "done" ? RunEvent::Kind::done : RunEvent::Kind::outcome;
  if (kind == "done") return out;
  out.outcome = parse_outcome(string_member(*json, "outcome").value_or(""));
  out.error = string_member(*json, "error").value_or("");
  if (kind != "outcome" || out.outcome == Outcome::none) return std::nullopt;
  return out;
}

Result<void> RunEventReader::write(std::string_view bytes) {
  while (!bytes.empty()) {
    auto end = bytes.find('\n');
    auto piece = bytes.substr(0, end);
    if (partial_.size() + piece.size() > kMaxEventBytes) is_too_long_ = true;
    if (is_too_long_)
      partial_.clear();
    else
      partial_ += piece;
    if (end == bytes.npos) return {};
    bytes.remove_prefix(end + 1);
    if (!is_too_long_)
      if (auto event = parse_run_event(partial_)) on_event_(*std::move(event));
    partial_.clear();
    is_too_long_ = false;
  }
  return {};
}

}  // namespace dash::automation
