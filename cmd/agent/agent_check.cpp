#include "cmd/agent/agent_commands.hpp"
#include "cmd/cli/printer.hpp"
#include "core/agent/remote/configuration_check.hpp"

namespace dash::cmd {
namespace {

Run declare_check(Flags& flags) {
  auto given = std::make_shared<agent::GivenSettings>();
  declare_agent_files(flags, *given);
  declare_state_folder(flags, *given);
  return [given](Context& context) -> Result<void> {
    auto settings = TRY(agent::read_settings(*given, agent::process_environment()));
    std::optional<agent::Identity> identity;
    auto loaded = agent::load_identity(settings.state_folder);
    if (!loaded && loaded.error().code != Code::not_found) return Failure(loaded.error());
    if (loaded) identity = *std::move(loaded);
    auto report = TRY(agent::check_configuration(settings, identity));
    for (const auto& warning : report.warnings) context.out.warn("{}", printable(warning));
    context.out.line("policy {}: {} targets, job types {}", report.policy.hash.substr(0, 12),
                     report.policy.targets.size(),
                     printable(fmt::format("{}", fmt::join(report.policy.job_types, ", "))));
    for (const auto& rule : report.policy.shares)
      context.out.line("share {}: {}", rule.name,
                       rule.can_write && !settings.is_audit ? "read and write" : "read");
    context.out.document(agent::to_json(report, settings));
    return {};
  };
}

}  // namespace

Action agent_check_action() {
  return {
      "check",
      "Check an agent's policy and shares",
      "Reads both files as dashctl agent run would, and prints what they allow. A key that occurs twice, an "
      "unknown key and a quoted true or false are errors with file and line, and exit with 2. With an "
      "enrolled "
      "state folder it opens the sealed passwords as well.",
      declare_check,
      {{"Check the files of this machine", "dashctl agent check"},
       {"Check other files before they are put in place",
        "dashctl agent check --policy-file policy.yaml --shares-file shares.yaml"}}};
}

}  // namespace dash::cmd
