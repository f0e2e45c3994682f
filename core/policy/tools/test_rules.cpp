#include "core/policy/tools/test_rules.hpp"

#include <algorithm>
#include <set>

#include "core/policy/opa/loaded_policy.hpp"

namespace dash::policy {
namespace {

// Returns the directory's own files, and the built-in ones with other names.
std::vector<PolicyFile> with_builtins(std::vector<PolicyFile> files) {
  std::set<std::string, std::less<>> names;
  for (const auto& file : files) names.emplace(base_name(file.path));
  for (auto& file : builtin_files(/*with_tests=*/true)) {
    std::string rule(base_name(file.path));
    if (auto at = rule.find("_test.rego"); at != rule.npos) rule.replace(at, std::string::npos, ".rego");
    if (!names.contains(rule)) files.push_back(std::move(file));
  }
  return files;
}

RuleTestResults read_tests(const Json& answer) {
  RuleTestResults out;
  for (const auto& entry : answer) {
    RuleTestResult test;
    test.file = entry.value(Json::json_pointer("/location/file"), "");
    if (test.file.starts_with("..")) test.file.erase(0, 2);  // a built-in file
    test.row = entry.value(Json::json_pointer("/location/row"), 0);
    test.name = entry.value("name", "");
    test.passed = !entry.value("fail", false) && !entry.contains("error");
    if (auto it = entry.find("error"); it != entry.end() && it->is_object())
      test.error = it->value("message", "failed to run");
    if (entry.value("skip", false)) continue;
    out.failed += !test.passed;
    out.tests.push_back(std::move(test));
  }
  std::ranges::sort(out.tests, {}, [](const RuleTestResult& t) { return std::tie(t.file, t.row, t.name); });
  return out;
}

}  // namespace

Result<RuleTestResults> run_rule_tests(const EngineOptions& options) {
  auto snapshot = TRY(read_snapshot(options.directory));
  auto run = TRY(RunDir::make());
  OpaTool tool(options.binary, options.launcher);
  auto files = with_builtins(snapshot.files);
  auto folder = TRY(run.folder());
  TRY(run.write(folder, files));
  auto parsed = TRY(tool.parse(run, folder, files));
  if (!parsed.errors.empty()) return fail(Code::policy_unavailable, "{}", describe(parsed.errors.front()));
  auto tool_result = TRY(tool.test(folder));
  auto answer = parse_json(tool_result.out);
  if (!answer || !(answer->is_array() || answer->is_null()))
    return fail(Code::policy_unavailable, "the policy engine's test run ended with status {}: {}",
                tool_result.exit_code, tool_result.err.substr(0, 500));
  return read_tests(*answer);
}

OrderedJson to_json(const RuleTestResults& tests) {
  OrderedJson out{{"passed", tests.tests.size() - tests.failed},
                  {"failed", tests.failed},
                  {"tests", OrderedJson::array()}};
  for (const auto& t : tests.tests)
    out["tests"].push_back(
        {{"file", t.file}, {"row", t.row}, {"name", t.name}, {"passed", t.passed}, {"error", t.error}});
  return out;
}

}  // namespace dash::policy
