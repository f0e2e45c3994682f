#include "core/config/lint.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/json.hpp"
#include "core/config/number_limits.hpp"
#include "core/config/regions.hpp"
#include "core/config/registry.hpp"
#include "core/config/settings.hpp"

namespace dash::config {
namespace {

// Longer names often differ by two letters (…_a_id, …_b_id), so only one edit counts as a slip.
bool is_one_edit_apart(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1) return false;
  auto [at_a, at_b] = std::ranges::mismatch(a, b);
  if (at_b == b.end()) return false;
  auto rest_a = a.substr(static_cast<std::size_t>(at_a - a.begin()));
  auto rest_b = b.substr(static_cast<std::size_t>(at_b - b.begin()));
  return rest_a == rest_b.substr(1) || (!rest_a.empty() && rest_a.substr(1) == rest_b.substr(1));
}

std::string similar_key(std::string_view key) {
  for (const auto& candidate : registered_keys())
    if (is_one_edit_apart(key, candidate.key)) return candidate.key;
  return "";
}

template <class N>
bool is_number(std::string_view text) {
  N out{};
  auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
  return ec == std::errc() && end == text.data() + text.size();
}

std::string wrong_type(const KeyInfo& info, const std::string& value) {
  if (info.type == "bool" && !parse_flag(info.key, value, false)) return "is neither true nor false";
  if (info.type == "int" && !is_number<std::int64_t>(value)) return "is not a whole number";
  if (info.type == "float" && !is_number<double>(value)) return "is not a number";
  bool is_json = info.type == "json" || info.type == "json-object" || info.type == "object";
  if (is_json && !parse_json(value)) return "is not JSON";
  return "";
}

std::string problem_of(const std::string& key, const std::string& value) {
  if (auto cloud = cloud_of_region_blob(key))
    return parse_region_blob(*cloud, value) ? ""
                                            : "is not a JSON object of regions; a merge would replace it";
  if (key.starts_with("admission_") && key != "admission_control_enabled" &&
      key != "admission_enforce_needs_approval")
    return parse_list(key, value)
               ? ""
               : "is neither a comma-separated list nor a JSON array of strings; gated actions are refused";
  if (key == "cloud_names" && value != "provider" && value != "canonical")
    return "is neither canonical nor provider";
  if (auto checked = check_number(key, value); !checked) return checked.error().message;
  const auto* info = lookup(key);
  if (!info) {
    auto similar = similar_key(key);
    return similar.empty() ? "" : "is not a known setting; is " + similar + " meant?";
  }
  return wrong_type(*info, value);
}

}  // namespace

std::vector<LintFinding> lint(const Values& values, const std::set<std::string>& unreadable) {
  std::vector<LintFinding> out;
  for (const auto& [key, value] : values) {
    if (unreadable.contains(key)) {
      out.push_back(
          {key, "was written with another key and reads as empty; set it again or bring the right key back"});
    } else if (!value.empty()) {
      if (auto problem = problem_of(key, value); !problem.empty()) out.push_back({key, problem});
    }
  }
  return out;
}

}  // namespace dash::config
