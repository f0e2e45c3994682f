#include "cmd/agent/agent_commands.hpp"
#include "cmd/cli/printer.hpp"
#include "cmd/cli/secret_input.hpp"
#include "core/agent/remote/identity.hpp"

namespace dash::cmd {
namespace {

struct SealFlags {
  agent::GivenSettings given;
  std::string password_file;
};

Run declare_seal(Flags& flags) {
  auto options = std::make_shared<SealFlags>();
  declare_state_folder(flags, options->given);
  flags.text("--password-file", options->password_file, "FILE", "file with the password; - for stdin");
  return [options](Context& context) -> Result<void> {
    auto settings = TRY(agent::read_settings(options->given, agent::process_environment()));
    auto identity = agent::load_identity(settings.state_folder);
    if (!identity && identity.error().code == Code::not_found)
      return fail(Code::usage,
                  "{} has no identity: enrol this agent first, because a password is sealed with its key",
                  settings.state_folder);
    if (!identity) return Failure(identity.error());
    auto password = TRY(read_new_secret(context, options->password_file, "Password: ", "--password-file"));
    auto sealed = agent::seal_password(*identity, password);
    context.out.line("{}", sealed);
    context.out.document({{"sealed", sealed}});
    return {};
  };
}

}  // namespace

Action agent_seal_action() {
  return {
      "seal",
      "Seal a share's password for this agent",
      "Reads a password and prints sealed:…, which the shares file takes as `password`. Only the key of this "
      "state folder opens it.",
      declare_seal,
      {{"Seal a password from standard input", "dashctl agent seal --password-file - < password"},
       {"Seal a password from a file",
        "dashctl agent seal --state-dir /var/lib/dashboard-agent --password-file password"}}};
}

}  // namespace dash::cmd
