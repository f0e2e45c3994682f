#include "core/policy/rule_set.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/base/embedded.hpp"
#include "core/base/lines.hpp"
#include "core/crypto/hash.hpp"

namespace dash::policy {
namespace {

constexpr std::string_view kBuiltinFolder = "core/policy/builtin/";
constexpr std::string_view kRoot = "admission";
// Operators' files never have names that begin with two dots (snapshot.hpp), so no name is taken twice.
constexpr std::string_view kBuiltinPrefix = "..builtin/";

std::vector<std::string> package_path(const Json& module) {
  std::vector<std::string> out;
  for (const auto& term : module.at("package").at("path"))
    if (term.value("value", Json()).is_string()) out.push_back(term.at("value").get<std::string>());
  if (!out.empty()) out.erase(out.begin());  // "data"
  return out;
}

std::string dotted(const std::vector<std::string>& path) {
  std::string out;
  for (const auto& segment : path) out += (out.empty() ? "" : ".") + segment;
  return out;
}

bool defines(const Json& module, std::string_view name) {
  if (!module.contains("rules")) return false;
  return std::ranges::any_of(module.at("rules"), [&](const Json& rule) {
    const auto& ref = rule.at("head").at("ref");
    return !ref.empty() && ref.at(0).value("value", Json()) == name;
  });
}

std::string stem(std::string_view path) {
  auto name = base_name(path);
  return std::string(name.substr(0, name.rfind('.')));
}

// Returns the numbers of the lines that begin with the whole word.
std::vector<int> lines_of(std::string_view text, std::string_view word) {
  std::vector<int> out;
  for (int line = 1; !text.empty(); ++line) {
    auto row = take_line(text);
    auto first = row.find_first_not_of(" \t");
    if (first != row.npos) row.remove_prefix(first);
    if (row.starts_with("default ")) row.remove_prefix(8);
    bool whole = row.size() == word.size() ||
                 (row.size() > word.size() &&
                  std::string_view(" \t[.:=({").find(row[word.size()]) != std::string_view::npos);
    if (row.starts_with(word) && whole) out.push_back(line);
  }
  return out;
}

RuleFile read_rule_file(const std::string& file, std::string_view text, const Json& module) {
  RuleFile out;
  out.file = file;
  auto path = package_path(module);
  out.package = dotted(path);
  if (path.size() == 2 && path[0] == kRoot) out.rule = path[1];
  out.has_deny = defines(module, "deny");
  out.has_approval = defines(module, "needs_approval");
  out.line = head_line(text, out.has_deny ? "deny" : "needs_approval");
  out.heads = head_lines(text);
  out.evaluates = out.rule && *out.rule == stem(file);
  out.module = module;
  return out;
}

int package_line(std::string_view text) { return std::max(1, head_line(text, "package")); }

// A package outside of admission is a helper, unless it looks like a rule with a mistake.
bool is_intended_as_rule(const RuleFile& file) {
  auto root = file.package.substr(0, file.package.find('.'));
  return root == kRoot || file.has_deny || file.has_approval ||
         (file.package.find('.') != std::string::npos && edit_distance(root, kRoot) <= 2);
}

Problem misplaced_problem(const RuleFile& file, std::string_view text) {
  Problem out{file.file, package_line(text), 1, "", "", "", true};
  auto root = file.package.substr(0, file.package.find('.'));
  if (file.rule) {
    out.code = "name_mismatch";
    out.message = fmt::format("never evaluates: the file is named {}.rego but declares package {}",
                              stem(file.file), file.package);
    out.fix = fmt::format("rename the file to {}.rego, or declare package admission.{}", *file.rule,
                          stem(file.file));
  } else if (root == kRoot) {
    out.code = "package_shape";
    out.message = fmt::format("never evaluates: package {} is not admission.<rule_id>", file.package);
    out.fix = fmt::format("declare package admission.{}", stem(file.file));
  } else {
    out.code = "package_misspelt";
    out.message = fmt::format("never evaluates: package {} lies outside of admission", file.package);
    out.fix = fmt::format("declare package admission.{}", stem(file.file));
  }
  return out;
}

Problem no_deny_problem(const RuleFile& file, std::string_view text) {
  return {file.file,
          package_line(text),
          1,
          "no_deny",
          fmt::format("can never deny: package {} defines neither deny nor needs_approval", file.package),
          "name the set of reasons deny, or move helpers to a package outside of admission",
          true};
}

const PolicyFile* find_file(const std::vector<PolicyFile>& files, std::string_view path) {
  auto it = std::ranges::find(files, path, &PolicyFile::path);
  return it == files.end() ? nullptr : &*it;
}

void add_builtins(RuleSet& out) {
  std::set<std::string> replaced;
  for (const auto& rule : out.rules)
    if (rule.evaluates) replaced.insert(std::string(base_name(rule.file)));
  for (auto& file : builtin_files(/*with_tests=*/false)) {
    if (replaced.contains(std::string(base_name(file.path)))) continue;
    RuleFile rule;
    rule.rule = stem(file.path);
    rule.file = "builtin/" + *rule.rule + ".rego";
    rule.package = "admission." + *rule.rule;
    rule.is_builtin = rule.evaluates = rule.has_deny = true;
    rule.line = head_line(file.text, "deny");
    rule.heads = head_lines(file.text);
    out.rules.push_back(std::move(rule));
    out.live.push_back(std::move(file));
  }
}

std::string digest_of(const std::vector<PolicyFile>& files) {
  crypto::Sha256 hash;
  for (const auto& file : files) {
    hash.update(fmt::format("{}:{}{}:", file.path.size(), file.path, file.text.size()));
    hash.update(file.text);
  }
  return crypto::to_hex(hash.finish());
}

}  // namespace

int head_line(std::string_view text, std::string_view word) {
  auto lines = lines_of(text, word);
  return lines.empty() ? 0 : lines.front();
}

std::vector<int> head_lines(std::string_view text) {
  auto out = lines_of(text, "deny"), approvals = lines_of(text, "needs_approval");
  out.insert(out.end(), approvals.begin(), approvals.end());
  std::ranges::sort(out);
  return out;
}

std::vector<PolicyFile> builtin_files(bool with_tests) {
  std::vector<PolicyFile> out;
  for (const auto& file : embedded_files()) {
    std::string_view path = file.path;
    if (!path.starts_with(kBuiltinFolder) || !is_rego(path) || (is_test(path) && !with_tests)) continue;
    out.push_back({std::string(kBuiltinPrefix) + std::string(base_name(path)), std::string(file.bytes())});
  }
  return out;
}

OrderedJson to_json(const Problem& p) {
  return {{"file", p.file},
          {"row", p.row},
          {"col", p.col},
          {"code", p.code},
          {"message", p.message},
          {"fix", p.fix},
          {"level", p.is_error ? "error" : "warning"}};
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      auto above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      diagonal = above;
    }
  }
  return row.back();
}

RuleSet make_rule_set(const Snapshot& snapshot, const Json& modules) {
  RuleSet out;
  for (const auto& parsed : modules) {
    auto path = parsed.at("file").get<std::string>();
    const auto* source = find_file(snapshot.files, path);
    if (source == nullptr || is_test(path)) continue;
    auto file = read_rule_file(path, source->text, parsed.at("module"));
    bool is_helper = !file.evaluates && !is_intended_as_rule(file);
    if (file.evaluates || is_helper) out.live.push_back(*source);
    if (is_helper) continue;
    if (!file.evaluates) out.problems.push_back(misplaced_problem(file, source->text));
    if (file.evaluates && !file.has_deny && !file.has_approval)
      out.problems.push_back(no_deny_problem(file, source->text));
    out.rules.push_back(std::move(file));
  }
  for (const auto& file : snapshot.files)
    if (!is_rego(file.path)) out.live.push_back(file);
  if (std::ranges::none_of(out.rules, &RuleFile::evaluates))
    out.problems.push_back({"", 0, 0, "empty",
                            "the policy directory holds no rule: only the built-in ones apply",
                            "put <rule_id>.rego files there, or mount the folder that holds them", true});
  add_builtins(out);
  std::ranges::sort(out.rules, {}, &RuleFile::file);
  std::ranges::sort(out.live, {}, &PolicyFile::path);
  out.digest = digest_of(out.live);
  return out;
}

}  // namespace dash::policy
