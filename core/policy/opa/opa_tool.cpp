#include "core/policy/opa/opa_tool.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/net/process/exec_child.hpp"
#include "core/net/process/find_program.hpp"

namespace dash::policy {
namespace {

constexpr std::size_t kMaxToolOutput = 64u << 20;
constexpr std::string_view kCapabilities = "capabilities.json";

// All other built-ins are pure functions of their arguments, the clock or a random source.
constexpr std::array<std::string_view, 3> kForbidden{"http.send", "net.lookup_ip_addr", "opa.runtime"};

// Checks and parses in one run: the directory is compiled because it is loaded, and the query parses each
// text. Of data files it finds those that set deny or needs_approval below admission.<id>.
constexpr const char* kParseQuery =
    R"({"modules": [{"file": file.path, "module": rego.parse_module(file.path, file.text)} |
                    some file in input.rego],
        "claims": array.concat(
          [[file.path, id, member] | some file in input.json; document := json.unmarshal(file.text)
            some id, value in object.get({"all": document, "below": {file.id: document}}, file.at, {})
            some member in ["deny", "needs_approval"]; _ = value[member]],
          [[file.path, id, member] | some file in input.yaml; document := yaml.unmarshal(file.text)
            some id, value in object.get({"all": document, "below": {file.id: document}}, file.at, {})
            some member in ["deny", "needs_approval"]; _ = value[member]])})";

// The position of `admission` in a data file, whose folders are the first steps of its path in data.
struct AdmissionPath {
  Json at = Json::array();  // in {"all": …, "below": {id: …}}; empty: nowhere
  std::string id;
};

AdmissionPath admission_path(std::string_view path) {
  std::vector<std::string> folders;
  for (auto slash = path.find('/'); slash != path.npos; slash = path.find('/')) {
    folders.emplace_back(path.substr(0, slash));
    path.remove_prefix(slash + 1);
  }
  if (folders.empty()) return {{"all", "admission"}, ""};
  if (folders[0] != "admission") return {};
  if (folders.size() == 1) return {{"all"}, ""};
  if (folders.size() == 2) return {{"below"}, folders[1]};
  // Deeper down the member itself is a folder.
  if (folders[2] == "deny" || folders[2] == "needs_approval") return {Json::array(), folders[1]};
  return {};
}

Problem data_rule_problem(std::string file, const std::string& id, const std::string& member) {
  return {
      std::move(file),
      1,
      1,
      "data_rule",
      fmt::format("a data file defines admission.{}.{}: data cannot judge, so every gated action is refused",
                  id, member),
      fmt::format("write the rule as {}.rego, or keep the data outside of admission.{}", id, id),
      true};
}

// A script needs an interpreter with unknown dependencies, so it runs without the sandbox and only ends with
// this process.
bool is_script(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 2> head{};
  file.read(head.data(), head.size());
  return file && head[0] == '#' && head[1] == '!';
}

std::string without_prefix(std::string file, std::string_view folder) {
  for (std::string_view prefix : {folder, std::string_view("/"), std::string_view("./")})
    if (file.starts_with(prefix)) file.erase(0, prefix.size());
  return file;
}

std::string fix_for(const std::string& code, const std::string& message) {
  for (auto name : kForbidden)
    if (message.find(name) != message.npos)
      return fmt::format("rules may not reach the network or the environment; take {} out", name);
  if (message.find("undefined function") != message.npos) return "define the function, or import its package";
  if (message.find("is unsafe") != message.npos) return "bind the variable: some x in …, or x := …";
  if (message.find("`if` keyword") != message.npos || message.find("`contains` keyword") != message.npos)
    return "the rules are Rego v1: write deny contains reason if { … }";
  return code == "rego_parse_error" ? "correct the syntax; every gated action is refused until then"
                                    : "correct the rule; every gated action is refused until then";
}

Problem to_problem(const Json& error, std::string_view folder) {
  Problem out;
  auto code = error.value("code", "");
  out.code = code == "rego_parse_error" ? "syntax" : "compile";
  out.message = error.value("message", "the engine does not accept this file");
  if (auto it = error.find("location"); it != error.end() && it->is_object()) {
    out.file = without_prefix(it->value("file", ""), folder);
    out.row = it->value("row", 0);
    out.col = it->value("col", 0);
  }
  for (auto at = out.message.find(folder); at != std::string::npos; at = out.message.find(folder))
    out.message.erase(at, folder.size() + 1);
  out.fix = fix_for(code, out.message);
  return out;
}

std::vector<Problem> to_problems(const Json& answer, std::string_view folder) {
  std::vector<Problem> out;
  if (auto it = answer.find("errors"); it != answer.end() && it->is_array())
    for (const auto& error : *it)
      if (error.is_object()) out.push_back(to_problem(error, folder));
  return out;
}

// The engine's Go runtime (pkg.go.dev/runtime, "Environment Variables") collects garbage in pauses that delay
// a decision, and wakes threads on processors that this process needs to read the response. These variables
// make fewer collections, for some 20 MiB, on half of the processors.
std::vector<std::string> server_environment() {
  return {"GOGC=400", fmt::format("GOMAXPROCS={}", std::max(1u, std::thread::hardware_concurrency() / 2))};
}

Failure unexpected_exit(const ToolResult& run) {
  auto text = run.err.empty() ? run.out : run.err;
  return fail(Code::policy_unavailable, "the policy engine ended with status {}: {}", run.exit_code,
              text.substr(0, 500));
}

}  // namespace

bool is_forbidden_builtin(std::string_view name) {
  return std::ranges::find(kForbidden, name) != kForbidden.end();
}

bool OpaTool::sandboxed() const {
  auto path = net::find_program(binary_);
  return path && !is_script(*path);
}

Result<net::Command> OpaTool::command(std::vector<std::string> args, const std::string& folder,
                                      std::vector<std::string> read, std::vector<std::string> write) const {
  auto path = net::find_program(binary_);
  if (!path)
    return fail(Code::policy_unavailable, "{}; install Open Policy Agent, or name it in POLICY_BINARY",
                path.error().message);
  args.insert(args.begin(), *path);
  bool narrow = !is_script(*path);
  read.push_back(folder);
  return net::sandboxed({std::move(args), {}, folder}, {std::move(read), std::move(write), narrow, narrow},
                        launcher_);
}

Result<ToolResult> OpaTool::run(std::vector<std::string> args, const std::string& folder,
                                std::vector<std::string> read, std::string_view input,
                                const ToolOptions& limits) {
  auto left = std::chrono::ceil<std::chrono::milliseconds>(limits.due - std::chrono::steady_clock::now());
  if (left.count() <= 0) return fail(Code::policy_unavailable, "the policy engine takes too long");
  auto result = net::run_child(TRY(command(std::move(args), folder, std::move(read), {})), input, left,
                               kMaxToolOutput, limits.should_stop);
  if (!result) return fail(Code::policy_unavailable, "the policy engine: {}", result.error().message);
  if (result->exit.signal != 0)
    return fail(Code::policy_unavailable, "the policy engine ended by {}", result->exit.text());
  return ToolResult{result->exit.code, std::move(result->out), std::move(result->err)};
}

Result<std::string> OpaTool::capabilities(const RunDir& run_dir, const ToolOptions& limits) {
  std::lock_guard lock(mutex_);
  auto path = run_dir.path() + "/" + std::string(kCapabilities);
  std::error_code ec;
  if (std::filesystem::exists(path, ec)) return path;
  auto tool_result = TRY(run({"capabilities", "--current"}, run_dir.path(), {}, "", limits));
  auto all = parse_json(tool_result.out);
  if (tool_result.exit_code != 0 || !all || !all->contains("builtins")) return unexpected_exit(tool_result);
  auto& builtins = (*all)["builtins"];
  for (auto it = builtins.begin(); it != builtins.end();)
    it = is_forbidden_builtin(it->value("name", "")) ? builtins.erase(it) : it + 1;
  (*all)["allow_net"] = Json::array();  // remote schemas are forbidden too
  TRY(run_dir.write(run_dir.path(), {{std::string(kCapabilities), dump_json(*all)}}));
  return path;
}

Result<ParseResult> OpaTool::parse(const RunDir& run_dir, const std::string& folder,
                                   const std::vector<PolicyFile>& files, const ToolOptions& limits) {
  auto allowed = TRY(capabilities(run_dir, limits));
  Json texts{{"rego", Json::array()}, {"json", Json::array()}, {"yaml", Json::array()}};
  ParseResult out;
  for (const auto& file : files) {
    auto place = admission_path(file.path);
    if (is_rego(file.path))
      texts["rego"].push_back({{"path", file.path}, {"text", file.text}});
    else if (!place.at.empty())
      texts[file.path.ends_with(".json") ? "json" : "yaml"].push_back(
          {{"path", file.path}, {"text", file.text}, {"at", place.at}, {"id", place.id}});
    else if (!place.id.empty())
      out.errors.push_back(data_rule_problem(file.path, place.id, "deny"));
  }
  auto tool_result = TRY(run({"eval", "--format", "json", "--capabilities", allowed, "--data", ".",
                              "--stdin-input", "--strict-builtin-errors", kParseQuery},
                             folder, {allowed}, dump_json(texts), limits));
  auto answer = parse_json(tool_result.out);
  if (!answer) return unexpected_exit(tool_result);
  if (auto errors = to_problems(*answer, folder); !errors.empty()) out.errors = std::move(errors);
  if (!out.errors.empty()) return out;
  auto value = answer->value(Json::json_pointer("/result/0/expressions/0/value"), Json());
  if (tool_result.exit_code != 0 || !value.is_object() || value.at("modules").size() != texts["rego"].size())
    return unexpected_exit(tool_result);
  for (const auto& c : value.at("claims"))
    out.errors.push_back(data_rule_problem(
        c.at(0).get<std::string>(), c.at(1).is_string() ? c.at(1).get<std::string>() : dump_json(c.at(1)),
        c.at(2).get<std::string>()));
  out.modules = std::move(value.at("modules"));
  return out;
}

Result<std::vector<Problem>> OpaTool::check_fields(const RunDir& run_dir, const std::string& folder,
                                                   const std::string& schema_file) {
  auto allowed = TRY(capabilities(run_dir, {}));
  auto tool_result = TRY(run({"check", "--format", "json", "--max-errors", "0", "--capabilities", allowed,
                              "--schema", schema_file, "."},
                             folder, {allowed, schema_file}, "", {}));
  // Errors are one JSON document on stderr.
  auto answer = parse_json(tool_result.err.empty() ? tool_result.out : tool_result.err);
  if (tool_result.exit_code != 0 && !answer) return unexpected_exit(tool_result);
  return answer ? to_problems(*answer, folder) : std::vector<Problem>();
}

Result<FiredRows> OpaTool::fired_rows(const std::string& folder, std::string_view document) {
  auto tool_result =
      TRY(run({"eval", "--format", "json", "--coverage", "--data", ".", "--stdin-input", "data.admission"},
              folder, {}, document, {}));
  auto answer = parse_json(tool_result.out);
  if (tool_result.exit_code != 0 || !answer) return unexpected_exit(tool_result);
  FiredRows out;
  // A file without any coverage is null.
  auto files = answer->value(Json::json_pointer("/coverage/files"), Json::object());
  for (const auto& [file, coverage] : files.items()) {
    if (!coverage.is_object() || !coverage.contains("covered") || !coverage["covered"].is_array()) continue;
    for (const auto& range : coverage["covered"])
      if (range.value(Json::json_pointer("/start/col"), 0) == 1)
        out.emplace(file, range.value(Json::json_pointer("/start/row"), 0));
  }
  return out;
}

Result<ToolResult> OpaTool::test(const std::string& folder) {
  return run({"test", "--format", "json", "."}, folder, {}, "", {});
}

Result<net::Child> OpaTool::serve(net::ChildSpawner& spawner, const std::string& folder,
                                  const std::string& socket_folder) {
  auto served = TRY(command({"run", "--server", "--addr", "unix://" + socket_folder + "/s", "--log-level",
                             "error", "--skip-version-check", "."},
                            folder, {}, {socket_folder}));
  served.env = server_environment();
  auto child = spawner.start(served);
  if (!child) return fail(Code::policy_unavailable, "{}", child.error().message);
  child->close_stdin();
  return child;
}

}  // namespace dash::policy
