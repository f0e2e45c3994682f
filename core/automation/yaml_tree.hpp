// A YAML text as a tree, made of the parser's events: keys and values as programs see them, whatever their
// quotes, escapes, flow style, anchors and tags. Nodes that aliases name are shared, also by themselves, so walk
// it with a record of what was visited.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"

namespace dash::automation {

struct YamlNode {
  enum class Kind { scalar, list, map };
  Kind kind = Kind::scalar;
  std::string text;                    // of a scalar; empty for null
  std::vector<const YamlNode*> items;  // of a list; of a map key, value, key, value…
};

class YamlTree {
 public:
  // Code::invalid with line and column for a text that is no YAML, or nested too deeply.
  static Result<YamlTree> parse(const std::string& text);
  const std::vector<const YamlNode*>& documents() const { return documents_; }
  const std::deque<YamlNode>& nodes() const { return nodes_; }

 private:
  std::deque<YamlNode> nodes_;
  std::vector<const YamlNode*> documents_;
};

}  // namespace dash::automation
