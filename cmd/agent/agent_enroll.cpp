#include "cmd/agent/agent_commands.hpp"
#include "cmd/cli/printer.hpp"
#include "core/agent/remote/enrolment.hpp"

namespace dash::cmd {
namespace {

Run declare_enroll(Flags& flags) {
  auto given = std::make_shared<agent::GivenSettings>();
  flags.text("--url", given->url, "URL", "the dashboard's address; else DASHBOARD_URL");
  flags.text("--code-file", given->code_file, "FILE",
             "file with the enrolment code; else AGENT_ENROLLMENT_CODE_FILE or AGENT_ENROLLMENT_CODE");
  declare_state_folder(flags, *given);
  declare_agent_files(flags, *given);
  flags.text("--ca-bundle", given->ca_bundle, "FILE",
             "PEM file with more authorities to trust; else AGENT_CA_BUNDLE");
  return [given](Context& context) -> Result<void> {
    auto settings = TRY(agent::read_settings(*given, agent::process_environment()));
    auto code = TRY(agent::load_code(settings));
    if (!code) return fail(Code::usage, "name the file of the enrolment code with --code-file");
    auto http = net::make_curl_client();
    auto identity = TRY(agent::enrol_here(*http, settings, *code));
    context.out.line("enrolled as the agent {} of {}", identity.agent_id, printable(identity.audience));
    context.out.document({{"agent_id", identity.agent_id},
                          {"audience", identity.audience},
                          {"state_dir", settings.state_folder}});
    return {};
  };
}

}  // namespace

Action agent_enroll_action() {
  return {
      "enroll",
      "Enrol this machine as an agent of a dashboard",
      "Spends an enrolment code (dashctl agent code) and keeps the agent's key in the state folder, mode "
      "0600. "
      "The folder is tried and the policy read before the code is sent. The dashboard's address is https, or "
      "http on this machine.",
      declare_enroll,
      {{"Enrol with a code from a file",
        "dashctl agent enroll --url https://dash.example --code-file code --state-dir "
        "/var/lib/dashboard-agent"},
       {"Trust an authority of one's own",
        "dashctl agent enroll --url https://dash.example --code-file code --ca-bundle /etc/ssl/lab.pem"}}};
}

}  // namespace dash::cmd
