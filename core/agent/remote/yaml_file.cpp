#include "core/agent/remote/yaml_file.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include "core/base/text.hpp"
#include "core/base/utf8.hpp"

namespace dash::agent {
namespace {

constexpr std::size_t kMaxYamlDepth = 32;

Failure yaml_failure(std::string_view file, int line, std::string_view message) {
  return fail(Code::usage, "{}:{}: {}", file, std::max(1, line), message);
}

// What is wrong, on its way out of the parser.
struct YamlRefusal {
  int line;
  std::string message;
};

int line_of(const YAML::Mark& mark) { return mark.line + 1; }

std::string shown(std::string_view text) {
  return escape_controls(trim_partial_character(text.substr(0, 100)), "");
}

// Builds the tree from the parser's events, because its own tree keeps neither both of two equal keys nor quotes.
class TreeBuilder final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) throw YamlRefusal{line_of(mark), "the file has a second document"};
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add({YamlNode::Kind::null, line_of(mark)}); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    throw YamlRefusal{line_of(mark), "aliases are not read here: write the value itself"};
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    check_tag(mark, tag);
    add({YamlNode::Kind::scalar, line_of(mark), value, tag == "!"});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, YamlNode::Kind::sequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, YamlNode::Kind::mapping);
  }
  void OnMapEnd() override { close(); }

  YamlNode take() { return std::move(root_); }

 private:
  struct Open {
    YamlNode node;
    std::optional<YamlNode> key{};  // of a mapping, while its value is awaited
  };

  static void check_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!")
      throw YamlRefusal{line_of(mark), fmt::format("the tag '{}' is not read here", shown(tag))};
  }

  void open(const YAML::Mark& mark, const std::string& tag, YamlNode::Kind kind) {
    check_tag(mark, tag);
    if (open_.size() >= kMaxYamlDepth) throw YamlRefusal{line_of(mark), "the file is nested too deeply"};
    open_.push_back({{kind, line_of(mark)}});
  }

  void close() {
    auto node = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(node));
  }

  void add(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    auto& top = open_.back();
    if (top.node.kind == YamlNode::Kind::sequence) {
      top.node.items.push_back(std::move(node));
    } else if (top.key) {
      node.key = std::move(top.key->text);
      node.key_line = top.key->line;
      top.key.reset();
      top.node.items.push_back(std::move(node));
    } else {
      add_key(top, node);
    }
  }

  static void add_key(Open& top, const YamlNode& node) {
    if (node.kind != YamlNode::Kind::scalar) throw YamlRefusal{node.line, "a key is a word"};
    auto first = std::ranges::find(top.node.items, node.text, &YamlNode::key);
    if (first != top.node.items.end())
      throw YamlRefusal{node.line, fmt::format("the key '{}' occurs twice; it stands in line {} already",
                                               shown(node.text), first->key_line)};
    top.key = node;
  }

  int documents_ = 0;
  std::vector<Open> open_;
  YamlNode root_;
};

constexpr std::array<std::pair<std::string_view, bool>, 6> kFlagWords{
    {{"true", true}, {"false", false}, {"yes", true}, {"no", false}, {"on", true}, {"off", false}}};

}  // namespace

Failure YamlView::error(std::string_view message) const { return yaml_failure(file_, node_->line, message); }

Result<void> YamlView::check_keys(std::string_view what, std::span<const std::string_view> known) const {
  if (!is_mapping()) return error(fmt::format("{} must be a mapping (key: value)", what));
  for (const auto& value : node_->items)
    if (std::ranges::count(known, value.key) == 0)
      return yaml_failure(
          file_, value.key_line,
          fmt::format("{} has no key '{}'; it has {}", what, shown(value.key), fmt::join(known, ", ")));
  return {};
}

std::optional<YamlView> YamlView::find(std::string_view key) const {
  if (!is_mapping()) return std::nullopt;
  auto found = std::ranges::find(node_->items, key, &YamlNode::key);
  if (found == node_->items.end()) return std::nullopt;
  return YamlView(file_, *found);
}

Result<std::vector<YamlView>> YamlView::list(std::string_view what) const {
  if (node_->kind != YamlNode::Kind::sequence) return error(fmt::format("{} must be a list", what));
  std::vector<YamlView> out;
  for (const auto& item : node_->items) out.emplace_back(file_, item);
  return out;
}

Result<std::string> YamlView::text(std::string_view what) const {
  if (node_->kind != YamlNode::Kind::scalar || trim(node_->text).empty())
    return error(fmt::format("{} must be a text", what));
  return node_->text;
}

Result<bool> YamlView::flag(std::string_view what) const {
  auto word = lower(node_->text);
  auto found = std::ranges::find(kFlagWords, word, &std::pair<std::string_view, bool>::first);
  bool is_word = node_->kind == YamlNode::Kind::scalar && found != kFlagWords.end();
  if (is_word && !node_->is_quoted) return found->second;
  if (is_word) return error(fmt::format("{} must be an unquoted true or false", what));
  return error(fmt::format("{} must be true or false, unquoted", what));
}

Result<std::int64_t> YamlView::number(std::string_view what, std::int64_t low, std::int64_t high) const {
  std::int64_t value = 0;
  const auto& text = node_->text;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool is_number = node_->kind == YamlNode::Kind::scalar && problem == std::errc() &&
                   end == text.data() + text.size() && !text.empty();
  if (is_number && value >= low && value <= high) return value;
  return error(fmt::format("{} must be a number from {} to {}", what, low, high));
}

Result<YamlNode> parse_yaml(std::string_view text, std::string_view file) {
  if (text.size() > kMaxYamlBytes)
    return yaml_failure(file, 1, fmt::format("the file has more than {} bytes", kMaxYamlBytes));
  TreeBuilder builder;
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YamlRefusal& refusal) {
    return yaml_failure(file, refusal.line, refusal.message);
  } catch (const YAML::Exception& e) {
    return yaml_failure(file, line_of(e.mark), fmt::format("this is no YAML: {}", shown(e.msg)));
  }
  return builder.take();
}

}  // namespace dash::agent
