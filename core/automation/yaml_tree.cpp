#include "core/automation/yaml_tree.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <sstream>

namespace dash::automation {
namespace {

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::deque<YamlNode>& nodes, std::vector<const YamlNode*>& documents)
      : nodes_(nodes), documents_(documents) {}

  void OnDocumentStart(const YAML::Mark&) override {
    anchors_.clear();
    open_.clear();
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t anchor) override { add(YamlNode::Kind::scalar, anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    auto found = anchors_.find(anchor);
    if (found == anchors_.end()) throw YAML::ParserException(mark, "unknown alias");
    attach(found->second);
  }
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t anchor,
                const std::string& value) override {
    add(YamlNode::Kind::scalar, anchor).text = value;
  }
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open_.push_back(&add(YamlNode::Kind::list, anchor));
  }
  void OnSequenceEnd() override { open_.pop_back(); }
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open_.push_back(&add(YamlNode::Kind::map, anchor));
  }
  void OnMapEnd() override { open_.pop_back(); }

 private:
  YamlNode& add(YamlNode::Kind kind, YAML::anchor_t anchor) {
    auto& node = nodes_.emplace_back();
    node.kind = kind;
    if (anchor != YAML::NullAnchor) anchors_[anchor] = &node;
    attach(&node);
    return node;
  }
  void attach(const YamlNode* node) {
    if (open_.empty())
      documents_.push_back(node);
    else
      open_.back()->items.push_back(node);
  }

  std::deque<YamlNode>& nodes_;
  std::vector<const YamlNode*>& documents_;
  std::vector<YamlNode*> open_;
  std::map<YAML::anchor_t, const YamlNode*> anchors_;
};

}  // namespace

Result<YamlTree> YamlTree::parse(const std::string& text) {
  YamlTree out;
  TreeBuilder builder(out.nodes_, out.documents_);
  std::istringstream stream(text);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& e) {
    return fail(Code::invalid, "line {}, column {}: {}", e.mark.line + 1, e.mark.column + 1, e.msg);
  }
  return out;
}

}  // namespace dash::automation
