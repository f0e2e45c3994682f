#include "core/storage/assets/secret_scan.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/base/utf8.hpp"

namespace dash::storage {
namespace {

constexpr std::array<std::string_view, 11> kTextExtensions{
    ".yml", ".yaml", ".sh", ".ps1", ".tf", ".tfvars", ".json", ".env", ".cfg", ".conf", ".ini"};
constexpr std::size_t kVaultHeaderWithin = 200;
constexpr std::size_t kNulWithin = 8u << 10;
constexpr std::size_t kMaxHiddenBytes = 8;  // values up to this length are redacted whole

// The group of each pattern is the value that is redacted.
struct SecretRule {
  std::string_view name;
  RE2 pattern;
  bool generic;
};

const std::array<SecretRule, 7>& rules() {
  static const std::array<SecretRule, 7> all{
      {{"aws_access_key_id", R"(\b(AKIA[0-9A-Z]{16})\b)", false},
       {"aws_secret_access_key", R"re((?i)aws_secret_access_key\s*[:=]\s*["']?([a-z0-9/+=]{40}))re", false},
       {"private_key", R"((-----BEGIN (?:RSA |EC |DSA |OPENSSH )?PRIVATE KEY-----))", false},
       {"github_token", R"(\b(ghp_[A-Za-z0-9]{36}))", false},
       {"google_api_key", R"(\b(AIza[0-9A-Za-z_\-]{35}))", false},
       {"slack_token", R"(\b(xox[baprs]-[0-9A-Za-z\-]{10,}))", false},
       {"generic_secret_assignment",
        R"re((?i)\b(?:password|passwd|secret|token|api[_-]?key|access[_-]?key)\b["']?[ \t]*[:=][ \t]*["']?([^\s"'#{}$<>]{8,}))re",
        true}}};
  return all;
}

// Placeholders that users write instead of a secret.
bool is_placeholder(std::string_view value) {
  static const RE2 placeholder(
      R"((?i)changeme|example|placeholder|redacted|secret|password|x{3,}|\*{3,}|null|true|false|yes|no|[0-9]+)");
  return value.starts_with("vault_") || value.ends_with("}}") ||
         RE2::FullMatch(re2::StringPiece(value), placeholder);
}

std::string redacted(std::string_view value) {
  if (value.size() <= kMaxHiddenBytes) return "****";
  return fmt::format("{}…{}", trim_partial_character(value.substr(0, 3)), value.substr(value.size() - 2));
}

bool is_scanned(std::string_view name, std::string_view text) {
  auto is_text = std::ranges::any_of(kTextExtensions, [&](std::string_view extension) {
    return name.size() > extension.size() &&
           std::ranges::equal(name.substr(name.size() - extension.size()), extension, {},
                              [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  });
  if (!is_text || text.substr(0, kVaultHeaderWithin).find("$ANSIBLE_VAULT") != text.npos) return false;
  return text.substr(0, kNulWithin).find('\0') == text.npos && is_utf8(text);
}

// Returns line numbers of ascending offsets.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : text_(text) {}
  std::size_t line_at(std::size_t offset) {
    line_ += static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(seen_),
                                                 text_.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
    seen_ = offset;
    return line_;
  }

 private:
  std::string_view text_;
  std::size_t seen_ = 0;
  std::size_t line_ = 1;
};

void apply_rule(const SecretRule& rule, std::string_view text, std::vector<SecretFinding>& found) {
  LineCounter lines(text);
  std::size_t at = 0, count = 0;
  re2::StringPiece groups[2];
  while (count < kMaxFindings &&
         rule.pattern.Match(re2::StringPiece(text), at, text.size(), RE2::UNANCHORED, groups, 2)) {
    std::string_view value(groups[1].data(), groups[1].size());
    auto offset = static_cast<std::size_t>(value.data() - text.data());
    if (rule.generic && is_placeholder(value)) {
      at = offset + value.size();
      continue;
    }
    found.push_back({std::string(rule.name), lines.line_at(offset), redacted(value)});
    ++count;
    at = std::min(text.find('\n', offset), text.size());
  }
}

}  // namespace

std::vector<SecretFinding> scan_for_secrets(std::string_view name, std::string_view first_part) {
  auto text = trim_partial_character(first_part);
  if (text.empty() || !is_scanned(name, text)) return {};
  std::vector<SecretFinding> found;
  for (const auto& rule : rules()) apply_rule(rule, text, found);
  std::ranges::stable_sort(found, {}, &SecretFinding::line);  // rules were applied in their order
  if (found.size() > kMaxFindings) found.resize(kMaxFindings);
  return found;
}

OrderedJson to_json(const std::vector<SecretFinding>& findings) {
  auto list = OrderedJson::array();
  for (const auto& f : findings) list.push_back({{"rule", f.rule}, {"line", f.line}, {"match", f.match}});
  return list;
}

}  // namespace dash::storage
