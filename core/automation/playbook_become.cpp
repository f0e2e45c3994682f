#include "core/automation/playbook_become.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "core/automation/host.hpp"
#include "core/automation/yaml_tree.hpp"
#include "core/base/text.hpp"

namespace dash::automation {
namespace {

using Kind = YamlNode::Kind;

// The names for which ansible connects to nothing (its constant LOCALHOST).
constexpr std::array<std::string_view, 3> kThisMachine{"localhost", "127.0.0.1", "::1"};
// Keywords and modules that read further YAML.
constexpr std::array<std::string_view, 10> kReaders{
    "include",         "include_tasks", "import_tasks", "include_role", "import_role",
    "import_playbook", "include_vars",  "vars_files",   "roles",        "include_playbook"};
constexpr std::array<std::string_view, 2> kOwnCollections{"ansible.builtin.", "ansible.legacy."};

constexpr std::string_view kMergeKey = "<<";  // yaml.org/type/merge

std::string_view short_name(std::string_view name) {
  for (auto prefix : kOwnCollections)
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  return name;
}

bool is_template(const YamlNode& node) { return node.text.find("{{") != std::string::npos; }

bool is_true(const YamlNode& node) { return node.kind != Kind::scalar || is_true_text(node.text); }

bool is_local_connection(const YamlNode& node) { return short_name(trim(node.text)) == "local"; }

bool is_this_machine(std::string_view name) {
  return std::ranges::find(kThisMachine, trim(name)) != kThisMachine.end();
}

// A pattern such as "web:localhost" or "web,localhost".
bool names_this_machine(std::string_view pattern) {
  if (is_this_machine(pattern)) return true;
  for (std::string_view separators : {",;", ",;:"}) {
    for (auto rest = pattern; !rest.empty();) {
      auto end = std::min(rest.find_first_of(separators), rest.size());
      if (is_this_machine(rest.substr(0, end))) return true;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return false;
}

bool names_this_machine(const YamlNode& node) {
  if (node.kind == Kind::scalar) return names_this_machine(node.text);
  return std::ranges::any_of(node.items, [](const YamlNode* item) { return names_this_machine(item->text); });
}

// The value of `name=value` in the arguments of a module that are written as one text; empty without one.
std::string_view argument(std::string_view text, std::string_view name) {
  auto at = text.find(name);
  if (at == text.npos) return {};
  auto rest = trim(text.substr(at + name.size()));
  if (!rest.starts_with('=')) return {};
  rest = trim(rest.substr(1));
  while (!rest.empty() && (rest.front() == '"' || rest.front() == '\'')) rest.remove_prefix(1);
  return rest.substr(0, std::min(rest.find_first_of(" \t\n\"'"), rest.size()));
}

// What holds for a part of the playbook.
struct Place {
  bool becomes = false;
  bool is_local = false;
  bool is_list_of_plays = false;
  auto operator<=>(const Place&) const = default;
};

struct Member {
  std::string_view name;
  const YamlNode* value;
};

// The members of a mapping: its own, then those that it merges (<<).
std::vector<Member> members_of(const YamlNode& map) {
  std::vector<Member> out;
  std::set<const YamlNode*> merged{&map};
  std::vector<const YamlNode*> maps{&map};
  for (std::size_t i = 0; i < maps.size(); ++i) {
    for (std::size_t k = 0; k + 1 < maps[i]->items.size(); k += 2) {
      const auto& key = *maps[i]->items[k];
      const auto* value = maps[i]->items[k + 1];
      out.push_back({key.text, value});
      if (key.text != kMergeKey) continue;
      auto sources = value->kind == Kind::list ? value->items : std::vector{value};
      for (const auto* source : sources)
        if (source->kind == Kind::map && merged.insert(source).second) maps.push_back(source);
    }
  }
  return out;
}

const YamlNode* find_member(const std::vector<Member>& members, std::string_view name) {
  auto found = std::ranges::find(members, name, &Member::name);
  return found == members.end() ? nullptr : found->value;
}

class Judge {
 public:
  explicit Judge(bool becomes_always) : becomes_always_(becomes_always) {}

  BecomeUse judge(const YamlTree& tree) {
    for (const auto& node : tree.nodes()) note_variables(node);
    use_.is_anywhere = becomes_always_;
    for (const auto* document : tree.documents()) visit(document, {becomes_always_, is_local_always_, true});
    while (!waiting_.empty()) {
      auto [node, place] = waiting_.back();
      waiting_.pop_back();
      walk(*node, place);
    }
    return use_;
  }

 private:
  // Variables outrank keywords, wherever they are set.
  void note_variables(const YamlNode& node) {
    if (node.kind == Kind::scalar) {
      auto becomes = argument(node.text, "ansible_become");
      becomes_always_ = becomes_always_ || (!becomes.empty() && is_true_text(becomes));
      is_local_always_ = is_local_always_ || short_name(argument(node.text, "ansible_connection")) == "local";
    }
    if (node.kind != Kind::map) return;
    for (const auto& [name, value] : members_of(node)) {
      if (name == "ansible_become" && is_true(*value)) becomes_always_ = true;
      if (name == "ansible_connection" && is_local_connection(*value)) is_local_always_ = true;
      if (std::ranges::find(kReaders, short_name(name)) != kReaders.end()) use_.reads_other_files = true;
    }
  }

  void visit(const YamlNode* node, Place place) {
    if (seen_.emplace(node, place).second) waiting_.emplace_back(node, place);
  }

  void walk(const YamlNode& node, Place place) {
    if (node.kind == Kind::list)
      for (const auto* item : node.items) visit(item, place);
    if (node.kind != Kind::map) return;
    auto members = members_of(node);
    auto inner = place_of(members, place);
    use_.is_anywhere = use_.is_anywhere || inner.becomes;
    use_.is_on_this_machine = use_.is_on_this_machine || (inner.becomes && inner.is_local);
    // What is merged is among the members.
    for (const auto& member : members)
      if (member.name != kMergeKey) visit(member.value, inner);
  }

  Place place_of(const std::vector<Member>& members, const Place& outer) const {
    Place out{outer.becomes, outer.is_local, false};
    if (const auto* become = find_member(members, "become")) out.becomes = is_true(*become);
    if (const auto* hosts = find_member(members, "hosts"); hosts && outer.is_list_of_plays)
      out.is_local = names_this_machine(*hosts);
    for (auto name : {"connection", "delegate_to"})
      if (const auto* value = find_member(members, name); value && !is_template(*value))
        out.is_local = std::string_view(name) == "connection" ? is_local_connection(*value)
                                                              : is_this_machine(value->text);
    for (const auto& member : members)
      if (short_name(member.name) == "local_action") out.is_local = true;
    out.becomes = out.becomes || becomes_always_;
    out.is_local = out.is_local || is_local_always_;
    return out;
  }

  bool becomes_always_;
  bool is_local_always_ = false;
  BecomeUse use_;
  std::set<std::pair<const YamlNode*, Place>> seen_;
  std::vector<std::pair<const YamlNode*, Place>> waiting_;
};

Failure unjudged(const std::string& name, std::string_view why) {
  return fail(Code::invalid,
              "'{}' cannot run with connection local: {}, so whether it takes another user's rights on the "
              "machine that runs it (become) is not known",
              name, why);
}

}  // namespace

Result<BecomeUse> find_become(const std::string& playbook, bool becomes_always) {
  return Judge(becomes_always).judge(TRY(YamlTree::parse(playbook)));
}

Result<bool> judge_playbook(const std::string& name, const std::string& text, const PlaybookCheck& check) {
  bool is_short = text.size() <= kMaxJudgedPlaybook;
  auto use = is_short ? find_become(text, check.becomes_always) : Result<BecomeUse>({.is_anywhere = true});
  if (check.has_local_host) {
    if (!is_short) return unjudged(name, fmt::format("it has more than {} bytes", kMaxJudgedPlaybook));
    if (!use) return unjudged(name, "it is no YAML, " + use.error().message);
    if (use->reads_other_files)
      return unjudged(name, "it reads plays, tasks, roles or variables of other files");
  }
  if (!use) return true;
  if (use->is_on_this_machine)
    return fail(
        Code::invalid,
        "'{}' takes another user's rights on the machine that runs it (become in a play, block, role or "
        "task that runs there); leave become out there",
        name);
  return use->is_anywhere;
}

}  // namespace dash::automation
