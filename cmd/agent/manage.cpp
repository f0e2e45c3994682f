// The operator's side: add|list|show|grant|revoke|remove|code.
#include <set>

#include "cmd/agent/agent_commands.hpp"
#include "cmd/cli/instance.hpp"
#include "cmd/cli/printer.hpp"

namespace dash::cmd {
namespace {

struct AgentFlags {
  InstanceFlags instance;
  std::string agent, site, description;
  std::vector<std::string> types;
  bool is_exact = false;
};

std::string member_text(const OrderedJson& agent, const char* member, std::string_view otherwise = "-") {
  auto it = agent.find(member);
  bool is_text = it != agent.end() && it->is_string() && !it->get<std::string>().empty();
  return is_text ? one_line(it->get<std::string>()) : std::string(otherwise);
}

std::string types_text(const OrderedJson& agent) {
  std::string out;
  for (const auto& type : agent.at("allowed_job_types"))
    out += (out.empty() ? "" : ",") + one_line(type.get<std::string>());
  return out.empty() ? "(nothing granted)" : out;
}

void declare_agent(Flags& flags, AgentFlags& into) {
  flags.argument("AGENT", into.agent, "name or id of the agent").required();
}

void warn_of_copy(Context& context, const OrderedJson& agent) {
  if (auto warning = member_text(agent, "warning", ""); !warning.empty())
    context.out.warn("{}: {}", member_text(agent, "name"), warning);
}

// The code alone on stdout, so that a script can keep it in a file.
void print_code(Context& context, const OrderedJson& issued) {
  context.out.line("{}", issued.at("enrollment_code").get<std::string>());
  context.out.note("the code works once, until {}; on the agent's machine: {}",
                   member_text(issued, "enroll_expires_at"),
                   one_line(issued.at("install").at("command").get<std::string>()));
  context.out.document(issued);
}

Run declare_add(Flags& flags) {
  auto options = std::make_shared<AgentFlags>();
  flags.argument("NAME", options->agent, "name of the agent").required();
  flags.text("--site", options->site, "TEXT", "where it stands");
  flags.text("--description", options->description, "TEXT", "what it is for");
  flags.list("--grant", options->types, "TYPE", "job type that it may get: agent_storage, agent_automation");
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    print_code(context, TRY(instance->agents->add({{"name", options->agent},
                                                   {"site", options->site},
                                                   {"description", options->description},
                                                   {"allowed_job_types", options->types}})));
    return {};
  };
}

Run declare_list(Flags& flags) {
  auto options = std::make_shared<AgentFlags>();
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    auto agents = TRY(instance->agents->list());
    for (const auto& agent : agents) {
      context.out.line("{:<24} {:<10} {:<8} {:<20} {}", member_text(agent, "name"),
                       member_text(agent, "status"), member_text(agent, "agent_version"),
                       member_text(agent, "last_seen_at"), types_text(agent));
      warn_of_copy(context, agent);
    }
    context.out.document({{"agents", agents}});
    return {};
  };
}

Run declare_show(Flags& flags) {
  auto options = std::make_shared<AgentFlags>();
  declare_agent(flags, *options);
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    auto agent = TRY(instance->agents->get(options->agent));
    for (const auto& [member, value] : agent.items())
      context.out.line("{:<20} {}", member,
                       value.is_string() ? one_line(value.get<std::string>()) : one_line(dump_json(value)));
    context.out.document(agent);
    return {};
  };
}

// The types that the agent has and those that were named, each once.
std::vector<std::string> union_of(const OrderedJson& agent, const std::vector<std::string>& named) {
  std::set<std::string> all(named.begin(), named.end());
  for (const auto& type : agent.at("allowed_job_types")) all.insert(type.get<std::string>());
  return {all.begin(), all.end()};
}

Run declare_grant(Flags& flags) {
  auto options = std::make_shared<AgentFlags>();
  declare_agent(flags, *options);
  flags.arguments("TYPE", options->types, "agent_storage, agent_automation");
  flags.toggle("--only", options->is_exact, "withdraw every other type; without a TYPE all of them");
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    if (options->types.empty() && !options->is_exact)
      return fail(Code::usage, "name a job type to grant, or withdraw all with --only");
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    auto types = options->types;
    if (!options->is_exact) types = union_of(TRY(instance->agents->get(options->agent)), types);
    auto agent = TRY(instance->agents->change(options->agent, {{"allowed_job_types", types}}));
    context.out.line("{}: {}", member_text(agent, "name"), types_text(agent));
    context.out.document(agent);
    return {};
  };
}

Run declare_revoke(Flags& flags) {
  auto options = std::make_shared<AgentFlags>();
  declare_agent(flags, *options);
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    auto revoked = TRY(instance->agents->revoke(options->agent));
    context.out.line("revoked {}; jobs that it had or was to get: {}", one_line(options->agent),
                     revoked.at("jobs_cleared").get<std::int64_t>());
    context.out.document(revoked);
    return {};
  };
}

Run declare_remove(Flags& flags) {
  auto options = std::make_shared<AgentFlags>();
  declare_agent(flags, *options);
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    TRY(instance->agents->remove(options->agent));
    context.out.line("removed {}", one_line(options->agent));
    context.out.document({{"agent", options->agent}, {"removed", true}});
    return {};
  };
}

Run declare_code(Flags& flags) {
  auto options = std::make_shared<AgentFlags>();
  declare_agent(flags, *options);
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    print_code(context, TRY(instance->agents->reissue_code(options->agent)));
    return {};
  };
}

}  // namespace

std::vector<Action> agent_management_actions() {
  return {
      {"add",
       "Add an agent and print its enrolment code on stdout",
       "The code works once, for 15 minutes. Nothing is granted but what --grant names.",
       declare_add,
       {{"Add an agent that reaches a share", "dashctl agent add plant2 --site berlin --grant agent_storage"},
        {"Keep the code in a file for the agent", "dashctl agent add plant3 > code"}}},
      {"list",
       "List the agents",
       "Warns on stderr of an identity that two addresses used.",
       declare_list,
       {{"List the agents", "dashctl agent list"}}},
      {"show", "Show an agent", "", declare_show, {{"Show an agent", "dashctl agent show plant1"}}},
      {"grant",
       "Grant job types to an agent",
       "Adds to what it has, unless --only is given. Queued jobs of a withdrawn type are cancelled.",
       declare_grant,
       {{"Let an agent serve its shares", "dashctl agent grant plant1 agent_storage"},
        {"Withdraw everything", "dashctl agent grant plant1 --only"}}},
      {"revoke",
       "Revoke an agent's identity",
       "Its key is refused from now on, its running job fails and its queued ones are cancelled.",
       declare_revoke,
       {{"Revoke an agent", "dashctl agent revoke old1"}}},
      {"remove",
       "Remove the record of a revoked agent",
       "",
       declare_remove,
       {{"Remove the record", "dashctl agent remove gone1"}}},
      {"code",
       "Issue a new enrolment code and print it on stdout",
       "The agent's present key holds until the code is used.",
       declare_code,
       {{"Enrol an agent anew", "dashctl agent code plant1 > code"}}}};
}

}  // namespace dash::cmd
