#include "core/migrate/answer.hpp"

#include <algorithm>

namespace dash::migrate {
namespace {

bool is_ok(const Json& answer) {
  auto ok = answer.find("ok");
  return answer.is_object() && ok != answer.end() && *ok == true;
}

// Returns nullopt when the member is no list of texts.
std::optional<std::vector<std::string>> names_in(const Json& answer, std::string_view name) {
  auto list = answer.find(name);
  if (!answer.is_object() || list == answer.end() || !list->is_array()) return std::nullopt;
  std::vector<std::string> out;
  for (const auto& item : *list) {
    if (!item.is_string()) return std::nullopt;
    out.push_back(item.get<std::string>());
  }
  return out;
}

// {key: sentence}, in canonical names.
std::map<std::string, std::string> sentences_in(const Json& answer, std::string_view name) {
  std::map<std::string, std::string> out;
  auto map = answer.find(name);
  if (!answer.is_object() || map == answer.end() || !map->is_object()) return out;
  for (const auto& [key, text] : map->items())
    out[config::canonical_key(key)] = text.is_string() ? text.get<std::string>() : dump_json(text);
  return out;
}

// It is part of a command that users copy to a shell.
bool is_change_id(std::string_view text) {
  constexpr std::size_t kMaxBytes = 100;
  return text.size() <= kMaxBytes &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; });
}

}  // namespace

std::map<std::string, std::string> parse_refused(const Json& answer) {
  return sentences_in(answer, "refused");
}

Failure bootstrap_refused(std::string_view target, const std::map<std::string, std::string>& refused) {
  std::vector<std::string> names;
  for (const auto& [key, reason] : refused) names.push_back(fmt::format("{} ({})", key, reason));
  return fail(Code::partial, "{} refused every key, so it was not claimed: {}", target,
              fmt::join(names, ", "));
}

std::optional<TargetWriteResult> parse_write_result(const Json& answer) {
  auto count = answer.find("keys_written");
  if (!is_ok(answer) || count == answer.end() || !count->is_number_unsigned()) return std::nullopt;
  TargetWriteResult written;
  written.keys_written = count->get<std::size_t>();
  written.regions_merged = names_in(answer, "regions_merged").value_or(written.regions_merged);
  written.refused = parse_refused(answer);
  written.warnings = sentences_in(answer, "warnings");
  written.change_id = string_member(answer, "change_id").value_or("");
  if (!is_change_id(written.change_id)) return std::nullopt;
  written.iac_state_left = storage::left_states_in(answer);
  return written;
}

std::optional<setup::RollbackResult> parse_rollback_result(const Json& answer) {
  auto restored = names_in(answer, "restored");
  if (!restored || !is_ok(answer)) return std::nullopt;
  setup::RollbackResult report;
  for (const auto& key : *restored) report.restored.push_back(config::canonical_key(key));
  report.regions_restored = names_in(answer, "regions_restored").value_or(report.regions_restored);
  report.iac_state_left = storage::left_states_in(answer);
  report.iac_state_migrated = static_cast<std::int64_t>(report.iac_state_left.size());
  return report;
}

}  // namespace dash::migrate
