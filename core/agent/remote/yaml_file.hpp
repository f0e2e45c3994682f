// A small YAML file that an operator writes, read strictly: a key that occurs twice, an alias, a tag and a second
// document are errors, and every error names file and line. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"

namespace dash::agent {

struct YamlNode {
  enum class Kind { null, scalar, sequence, mapping } kind = Kind::null;
  int line = 0;  // from 1
  std::string text{};
  bool is_quoted = false;         // of a scalar
  std::vector<YamlNode> items{};  // of a sequence, or the values of a mapping, in the order of the file
  std::string key{};              // of a mapping's value
  int key_line = 0;
};

// A file's name and its document, or a part of it. Every failure is Code::usage, "FILE:LINE: sentence".
class YamlView {
 public:
  YamlView(std::string_view file, const YamlNode& node) : file_(file), node_(&node) {}

  const YamlNode& node() const { return *node_; }
  bool is_mapping() const { return node_->kind == YamlNode::Kind::mapping; }

  // Checks that it is a mapping with no other keys than these. `what` names it in messages.
  Result<void> check_keys(std::string_view what, std::span<const std::string_view> known) const;
  // The value of a key, in a mapping; nullopt when it is absent.
  std::optional<YamlView> find(std::string_view key) const;

  // `what` names the value in messages.
  Result<std::vector<YamlView>> list(std::string_view what) const;
  Result<std::string> text(std::string_view what) const;
  // true, false, yes, no, on, off without quotes.
  Result<bool> flag(std::string_view what) const;
  // A whole number between the two, quoted or not.
  Result<std::int64_t> number(std::string_view what, std::int64_t low, std::int64_t high) const;

  Failure error(std::string_view message) const;

 private:
  std::string_view file_;
  const YamlNode* node_;
};

inline constexpr std::size_t kMaxYamlBytes = 1u << 20;

// Returns the only document; null for an empty text. Code::usage.
Result<YamlNode> parse_yaml(std::string_view text, std::string_view file);

}  // namespace dash::agent
