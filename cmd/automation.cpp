#include "cmd/cli/groups.hpp"
#include "cmd/cli/instance.hpp"
#include "cmd/cli/printer.hpp"
#include "cmd/cli/secret_input.hpp"
#include "core/base/file.hpp"

namespace dash::cmd {
namespace {

constexpr std::size_t kMaxVariablesFile = 1u << 20;
constexpr std::int64_t kNotGiven = -1;

struct RunFlags {
  InstanceFlags instance;
  std::string asset, backend, workgroup, variables_file, runner, cloud, project;
  std::vector<std::string> hosts, variables, secrets;
  std::int64_t forks = kNotGiven, max_failures = kNotGiven;
  bool is_bulk = false, is_check = false;
};

// Splits NAME=VALUE.
Result<std::pair<std::string, std::string>> split_assignment(const std::string& text, std::string_view flag) {
  auto equals = text.find('=');
  if (equals == text.npos || equals == 0) return fail(Code::usage, "{} takes NAME=VALUE", flag);
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<Json> extra_variables(const RunFlags& flags) {
  auto out = Json::object();
  if (!flags.variables_file.empty()) {
    out = TRY(
        within(flags.variables_file, parse_json(TRY(read_file(flags.variables_file, kMaxVariablesFile)))));
    if (!out.is_object()) return fail(Code::usage, "{} holds no JSON object", flags.variables_file);
  }
  for (const auto& text : flags.variables) {
    auto [name, value] = TRY(split_assignment(text, "--var"));
    out[name] = value;
  }
  return out;
}

Result<Json> secret_variables_of(const RunFlags& flags) {
  auto out = Json::object();
  for (const auto& text : flags.secrets) {
    auto [name, file] = TRY(split_assignment(text, "--secret-var"));
    out[name] = TRY(read_secret_file(file)).expose();
  }
  return out;
}

Result<Json> body_of(const RunFlags& flags) {
  Json out{{"asset", flags.asset}, {"hosts", flags.hosts}, {"check", flags.is_check}};
  for (auto [name, text] : {std::pair("asset_backend", &flags.backend),
                            std::pair("workgroup", &flags.workgroup), std::pair("runner", &flags.runner),
                            std::pair("cloud", &flags.cloud), std::pair("project", &flags.project)})
    if (!text->empty()) out[name] = *text;
  if (flags.forks != kNotGiven) out["forks"] = flags.forks;
  if (flags.max_failures != kNotGiven) out["max_failures"] = flags.max_failures;
  out["extra_vars"] = TRY(extra_variables(flags));
  out["secret_vars"] = TRY(secret_variables_of(flags));
  return out;
}

std::string job_text(const OrderedJson& value) {
  return value.is_string() ? one_line(value.get<std::string>()) : "-";
}

void declare_run_flags(Flags& flags, RunFlags& into) {
  flags.argument("ASSET", into.asset, "playbook, script or package").required();
  flags.list("--host", into.hosts, "NAME", "host to run it on; for admins also an address").required();
  flags.toggle("--bulk", into.is_bulk, "make a batch with one job for each host");
  flags.toggle("--check", into.is_check, "change nothing, and print what would change");
  flags.list("--var", into.variables, "NAME=VALUE", "variable of the run");
  flags.text("--vars-file", into.variables_file, "FILE", "JSON object of variables");
  flags.list("--secret-var", into.secrets, "NAME=FILE",
             "variable with the content of FILE, hidden in the log");
  flags.number("--forks", into.forks, "N", "hosts at once, 5 by default").at_least(1);
  flags.number("--max-failures", into.max_failures, "N", "stop when more hosts have failed").at_least(0);
  flags.text("--workgroup", into.workgroup, "NAME", "workgroup of the job");
  flags.text("--backend", into.backend, "ID", "backend of the asset; the active one by default");
  flags.text("--runner", into.runner, "NAME", "runner instead of the setting automation_runner");
  flags.text("--cloud", into.cloud, "CLOUD", "cloud whose runner is taken");
  flags.text("--compose-project", into.project, "NAME", "start the asset, a compose file, as this project");
  declare_instance(flags, into.instance);
}

Run declare_automation_run(Flags& flags) {
  auto options = std::make_shared<RunFlags>();
  declare_run_flags(flags, *options);
  return [options](Context& context) -> Result<void> {
    if (options->is_bulk && !options->project.empty())
      return fail(Code::usage, "--bulk and --compose-project exclude each other");
    auto body = TRY(body_of(*options));
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    auto& client = *instance->automation;
    auto answer = TRY(!options->project.empty() ? client.deploy_compose(body)
                      : options->is_bulk        ? client.run_bulk(body)
                                                : client.run(body));
    if (options->is_bulk) {
      context.out.line("batch {}", job_text(answer.at("batch_id")));
      for (const auto& job : answer.at("jobs"))
        context.out.line("{} {}", job_text(job.at("job_id")), job_text(job.at("target")));
    } else {
      context.out.line("{} {}", job_text(answer.at("job_id")), job_text(answer.at("status")));
    }
    context.out.document(answer);
    return {};
  };
}

Run declare_automation_show(Flags& flags) {
  auto options = std::make_shared<RunFlags>();
  flags.argument("JOB", options->asset, "id of the job").required();
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    auto answer = TRY(instance->automation->playbook(options->asset));
    auto playbook = answer.at("playbook").get<std::string>();
    while (playbook.ends_with('\n')) playbook.pop_back();
    context.out.line("{}", printable(playbook));
    context.out.document(answer);
    return {};
  };
}

}  // namespace

Group automation_group() {
  return {"automation",
          "Run assets on hosts",
          {{"run",
            "Run a playbook, a script or a package on hosts",
            "A playbook runs as it is, a script as a task of its own; a package is copied and installed. "
            "Prints the "
            "job, whose log and outcome `dashctl job` shows.",
            declare_automation_run,
            {{"Run a playbook on one host", "dashctl automation run motd.yml --host db1"},
             {"Try it in a batch, which has a job for each host",
              "dashctl automation run motd.yml --host db1 --bulk --check"}}},
           {"show",
            "Print the playbook of a run",
            "",
            declare_automation_show,
            {{"Print what a run runs", "dashctl automation show $RUN"}}}}};
}

}  // namespace dash::cmd
