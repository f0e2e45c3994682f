#include "core/policy/tools/lint.hpp"

#include <algorithm>
#include <set>

#include "core/base/embedded.hpp"
#include "core/config/clouds.hpp"
#include "core/policy/opa/loaded_policy.hpp"

namespace dash::policy {
namespace {

constexpr std::string_view kSchema = "core/policy/builtin/input_schema.json";

std::string nearest(std::string_view word, const std::vector<std::string>& choices) {
  auto it =
      std::ranges::min_element(choices, {}, [&](const std::string& c) { return edit_distance(word, c); });
  return it == choices.end() ? "" : *it;
}

// Returns the members of the schema below `path` ("request").
std::vector<std::string> members_at(const Json& schema, std::string_view path) {
  const Json* node = &schema;
  while (!path.empty() && node->contains("properties")) {
    auto dot = path.find('.');
    auto it = node->at("properties").find(std::string(path.substr(0, dot)));
    if (it == node->at("properties").end()) break;
    node = &*it;
    path = dot == path.npos ? std::string_view() : path.substr(dot + 1);
  }
  std::vector<std::string> out;
  if (node->contains("properties"))
    for (const auto& [name, value] : node->at("properties").items()) out.push_back(name);
  return out;
}

// Adds to "undefined ref: input.request.regoin" the name that was probably meant.
void explain_field(Problem& problem, const Json& schema) {
  constexpr std::string_view kUndefined = "undefined ref: input.";
  auto at = problem.message.find(kUndefined);
  if (at == problem.message.npos) return;
  auto path = problem.message.substr(at + kUndefined.size());
  path = path.substr(0, path.find_first_of(" \n"));
  std::string known;
  for (std::size_t start = 0;;) {
    auto dot = path.find('.', start);
    auto word = path.substr(start, dot == path.npos ? path.npos : dot - start);
    auto choices = members_at(schema, known);
    if (std::ranges::find(choices, word) == choices.end()) {
      auto prefix = known.empty() ? std::string("input.") : "input." + known + ".";
      problem.code = "field_misspelt";
      problem.message = fmt::format(
          "{}{} does not exist in the input document: the rule never fires because of it", prefix, word);
      problem.fix = fmt::format("did you mean {}{}? There are: {}", prefix, nearest(word, choices),
                                fmt::join(choices, ", "));
      return;
    }
    known += (known.empty() ? "" : ".") + word;
    if (dot == path.npos) return;
    start = dot + 1;
  }
}

Result<std::vector<Problem>> lint_fields(OpaTool& tool, RunDir& run, const std::string& folder) {
  auto schema = parse_json(*embedded(kSchema)).value();
  auto place = TRY(run.folder());
  TRY(run.write(place, {{"input.json", dump_json(schema)}}));
  auto out = TRY(tool.check_fields(run, folder, place + "/input.json"));
  for (auto& problem : out) explain_field(problem, schema);
  return out;
}

void append(std::vector<Problem>& to, std::vector<Problem> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// Keeps one finding a place and kind. The parser's first error of a line is enough, and a rule that never
// denies because of a misspelt word needs no second finding.
std::vector<Problem> sort_unique(std::vector<Problem> all) {
  std::set<std::string> misspelt;
  for (const auto& p : all)
    if (p.code == "deny_misspelt" || p.code == "field_misspelt") misspelt.insert(p.file);
  std::set<std::tuple<std::string, int, std::string, std::string>> seen;
  std::erase_if(all, [&](const Problem& p) {
    bool echo = (p.code == "no_deny" || p.code == "never_denies") && misspelt.contains(p.file);
    bool once_a_line = p.code == "syntax" || p.code == "shape";
    return echo || !seen.insert({p.file, p.row, p.code, once_a_line ? "" : p.message}).second;
  });
  std::ranges::stable_sort(all, {}, [](const Problem& p) { return std::tie(p.file, p.row, p.col); });
  return all;
}

Result<std::vector<Problem>> lint_snapshot(const Snapshot& snapshot, const EngineOptions& options,
                                           const Limits& limits) {
  std::vector<Problem> out;
  auto run = TRY(RunDir::make());
  OpaTool tool(options.binary, options.launcher);
  auto folder = TRY(run.folder());
  TRY(run.write(folder, snapshot.files));
  ParseResult parsed;
  if (!snapshot.files.empty()) parsed = TRY(tool.parse(run, folder, snapshot.files));
  if (!parsed.errors.empty()) return parsed.errors;
  auto rules = make_rule_set(snapshot, parsed.modules);
  out = rules.problems;
  append(out, lint_heads(rules, snapshot));
  append(out, TRY(lint_fields(tool, run, folder)));
  auto engine = make_opa(options);
  append(out, lint_runs(*engine, rules, limits));
  return out;
}

}  // namespace

std::vector<Problem> lint_settings(const GateSettings& settings) {
  std::vector<Problem> out;
  if (settings.fault)
    out.push_back({"", 0, 0, "setting", *settings.fault,
                   "every gated action is refused until the setting is corrected", true});
  for (const auto& action : settings.gated) {
    const auto& known = gated_action_names();
    if (std::ranges::find(known, action) != known.end()) continue;
    out.push_back({"", 0, 0, "action_unknown",
                   fmt::format("the setting {} names '{}', which no route performs", kGatedKey, action),
                   fmt::format("did you mean {}?", nearest(action, known)), true});
  }
  return out;
}

Result<std::vector<Problem>> lint_policies(const EngineOptions& options, const GateSettings& settings) {
  auto out = lint_settings(settings);
  auto snapshot = read_snapshot(options.directory);
  if (!snapshot)
    out.push_back({"", 0, 0, "unreadable", snapshot.error().message,
                   "name a folder of policies that can be read", true});
  else
    append(out, TRY(lint_snapshot(*snapshot, options, settings.folded)));
  return sort_unique(std::move(out));
}

}  // namespace dash::policy
