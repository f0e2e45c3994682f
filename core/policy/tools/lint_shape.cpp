#include <algorithm>
#include <array>

#include "core/policy/tools/lint.hpp"

namespace dash::policy {
namespace {

constexpr std::string_view kDeny = "deny", kApproval = "needs_approval";

std::string head_name(const Json& rule) {
  const auto& ref = rule.at("head").at("ref");
  return ref.empty() ? "" : ref.at(0).value("value", "");
}

bool is_near(std::string_view name, std::string_view word, std::size_t letters) {
  return name != word && edit_distance(name, word) <= letters;
}

// Recognises "deny_reasons", "denies", "deney": probably one of the two names.
std::optional<std::string_view> intended_name(std::string_view name) {
  constexpr std::array<std::string_view, 4> kPlural{"denies", "denied", "denials", "deny_reasons"};
  if (is_near(name, kDeny, name.size() > 4 ? 2 : 1) || std::ranges::find(kPlural, name) != kPlural.end())
    return kDeny;
  if (is_near(name, kApproval, 3)) return kApproval;
  return std::nullopt;
}

// Returns the type of the head's value when it cannot be a set of strings; empty when it may be one.
std::string wrong_kind(const Json& head) {
  if (head.contains("args")) return "a function";
  if (head.at("ref").size() > 1) return "an object";
  const auto& element = head.contains("key") ? head.at("key") : head.value("value", Json::object());
  auto type = element.value("type", "");
  if (head.contains("key")) {
    for (auto scalar : {"number", "boolean", "null", "array", "object", "set"})
      if (type == scalar) return fmt::format("a set of {}s", scalar);
    return "";
  }
  for (auto kind : {"string", "number", "boolean", "null", "array", "object"})
    if (type == kind)
      return fmt::format(
          "{} {}", std::string_view("aeiou").find(kind[0]) != std::string_view::npos ? "an" : "a", kind);
  if (type == "arraycomprehension") return "an array";
  return type == "objectcomprehension" ? "an object" : "";
}

void lint_rule(const RuleFile& file, const Json& rule, std::string_view text, std::vector<Problem>& out) {
  auto name = head_name(rule);
  if (auto word = intended_name(name)) {
    out.push_back({file.file, head_line(text, name), 1, "deny_misspelt",
                   fmt::format("{} is not read by the gate: nothing is denied by it", name),
                   fmt::format("did you mean {}?", *word), true});
    return;
  }
  if (name != kDeny && name != kApproval) return;
  if (auto kind = wrong_kind(rule.at("head")); !kind.empty())
    out.push_back({file.file, head_line(text, name), 1, "shape",
                   fmt::format("{} is {}, not a set of strings: every gated action is refused", name, kind),
                   fmt::format("write {} contains \"reason\" if {{ … }}", name), true});
}

}  // namespace

std::vector<Problem> lint_heads(const RuleSet& rules, const Snapshot& snapshot) {
  std::vector<Problem> out;
  for (const auto& file : rules.rules) {
    auto source = std::ranges::find(snapshot.files, file.file, &PolicyFile::path);
    if (source == snapshot.files.end() || !file.module.contains("rules")) continue;
    for (const auto& rule : file.module.at("rules")) lint_rule(file, rule, source->text, out);
  }
  return out;
}

}  // namespace dash::policy
