#include "cmd/cli/instance.hpp"

#include <cstdlib>

#include "cmd/cli/printer.hpp"
#include "cmd/cli/secret_input.hpp"
#include "core/base/environment.hpp"
#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/identity/tokens.hpp"

namespace dash::cmd {
namespace {

Result<Secret> read_token(const LoginFlags& flags) {
  auto text = flags.token_file.empty() ? flags.token : TRY(read_secret_file(flags.token_file)).expose();
  Secret token{std::string(trim(text))};
  // The token becomes a line of a header.
  if (has_control_character(token.expose()))
    return fail(Code::usage, "the token holds control characters: pass the token alone");
  return token;
}

Failure pat_error(const std::string& url) {
  return fail(
      Code::forbidden,
      "this is a personal access token, and {} takes only a login here: pass --admin-user NAME with a "
      "password, or the token of a login with --token-file",
      url);
}

// A password may have any prefix, but a whole token is no password.
bool is_whole_pat(const Secret& password) {
  constexpr std::size_t kHexDigits = 64;
  auto text = trim(password.expose());
  return identity::is_personal_access_token(text) && text.size() > kHexDigits;
}

// Checks the password file before any request to the instance, where no prompt is needed.
Result<void> read_password_file(Context& context, const std::string& url, const LoginFlags& flags) {
  if (flags.admin_user.empty() || flags.password_file.empty()) return {};
  context.password = TRY(read_secret_file(flags.password_file));
  return check_no_pat(*context.password, url);
}

}  // namespace

Result<void> check_no_pat(const Secret& password, const std::string& url) {
  if (is_whole_pat(password)) return pat_error(url);
  return {};
}

Result<Secret> read_new_password(Context& context, const std::string& file, const std::string& prompt,
                                 const std::string& flag) {
  auto password = TRY(read_new_secret(context, file, prompt, flag));
  if (is_whole_pat(password))
    return fail(Code::forbidden,
                "this is a personal access token and no password: {} names the account's new "
                "password",
                flag);
  return password;
}

void declare_connection(Flags& flags, LoginFlags& into) {
  flags.text("--ca-bundle", into.ca_bundle, "FILE", "PEM roots to trust beside the system's")
      .in(FlagGroup::instance);
  flags.toggle("--insecure", into.is_insecure, "do not verify TLS; prints a warning")
      .guard()
      .warns("TLS is not verified (--insecure): anybody on the way can read and change what is sent")
      .in(FlagGroup::instance);
  flags.number("--timeout", into.timeout_seconds, "SECONDS", "for each request; 30 by default")
      .at_least(1)
      .in(FlagGroup::instance);
}

void declare_login(Flags& flags, LoginFlags& into) {
  constexpr auto kSignIn = FlagGroup::sign_in;
  declare_connection(flags, into);
  flags.text("--admin-user", into.admin_user, "NAME", "sign in as this administrator").in(kSignIn);
  flags.text("--password-file", into.password_file, "FILE", "password, - for stdin; else a prompt")
      .in(kSignIn);
  flags.text("--token", into.token, "JWT", "token; shows in the list of processes")
      .excludes("--token-file")
      .in(kSignIn);
  flags.text("--token-file", into.token_file, "FILE", "file with a token, - for stdin").in(kSignIn);
}

void declare_local(Flags& flags, LocalFlags& into) {
  constexpr auto kInstance = FlagGroup::instance;
  flags.text("--data-dir", into.data_dir, "DIR", "the instance in this folder, directly").in(kInstance);
  flags.text("--database", into.database, "URL", "its database, when at postgres://…").in(kInstance);
  flags.text("--signing-key-file", into.signing_key_file, "FILE", "its signing key, when kept elsewhere")
      .in(kInstance);
  flags.text("--encryption-key-file", into.encryption_key_file, "FILE", "its encryption key, when it has one")
      .in(kInstance);
}

void declare_url(Flags& flags, std::string& into) {
  flags.text("--target", into, "URL", "the instance at this address")
      .excludes("--data-dir")
      .in(FlagGroup::instance);
}

void declare_instance(Flags& flags, InstanceFlags& into) {
  declare_url(flags, into.target);
  declare_local(flags, into.local);
  declare_login(flags, into.login);
}

Result<net::ApiClient> open_api(Context& context, net::HttpClient& http, const std::string& url,
                                const LoginFlags& flags, Login accepts) {
  net::ApiAddress address{
      url, {flags.ca_bundle, flags.is_insecure}, std::chrono::seconds(flags.timeout_seconds)};
  auto api = TRY(net::ApiClient::open(http, std::move(address)));
  context.last_url = api.url();
  // Read once, because stdin cannot be read again.
  auto token = TRY(read_token(flags));
  if (accepts == Login::session && identity::is_personal_access_token(token.expose()))
    return pat_error(api.url());
  if (token.empty()) TRY(read_password_file(context, api.url(), flags));
  api.use_token(std::move(token));
  return api;
}

Result<void> read_password(Context& context, const net::ApiClient& api, const LoginFlags& flags) {
  if (api.has_token() || context.password) return {};
  if (flags.admin_user.empty())
    return fail(Code::usage, "{} needs a sign-in: pass --admin-user NAME (with {} FILE) or --token-file FILE",
                api.url(), flags.password_flag);
  context.password = TRY(read_secret(
      context, "", fmt::format("Password of {} at {}", flags.admin_user, api.url()), flags.password_flag));
  return check_no_pat(*context.password, api.url());
}

Result<void> sign_in(Context& context, net::ApiClient& api, const LoginFlags& flags) {
  if (api.has_token()) return {};
  TRY(read_password(context, api, flags));
  context.out.set_activity("signing in at " + api.url());
  auto done = api.login(flags.admin_user, *context.password);
  context.out.set_activity("");
  return done;
}

std::string data_dir_or_default(const std::string& data_dir) {
  if (!data_dir.empty()) return data_dir;
  if (auto xdg = environment_variable("XDG_DATA_HOME"); xdg.starts_with('/')) return xdg + "/dashctl";
  return home_folder() + "/.local/share/dashctl";
}

app::Options local_options(const LocalFlags& flags) {
  app::Options options;
  options.data_dir = data_dir_or_default(flags.data_dir);
  options.database = flags.database;
  options.signing_key_file = flags.signing_key_file;
  options.encryption_key_file = flags.encryption_key_file;
  return options;
}

Result<std::unique_ptr<app::Instance>> open_local(const LocalFlags& flags, IfAbsent if_absent) {
  auto options = local_options(flags);
  options.must_exist = if_absent == IfAbsent::fail;
  return app::open_instance(options);
}

client::InstanceClient open_local_instance_client(app::Application& app, const Principal& principal,
                                                  const std::string& data_dir) {
  return {.users = client::open_local_user_client(app.accounts, principal),
          .tokens = client::open_local_token_client(app.accounts, principal),
          .vaults = client::open_local_vault_client(app.vaults, principal),
          .hosts = client::open_local_host_client(app.hosts, principal),
          .agents = client::open_local_agent_client(app.agents, principal),
          .config = client::open_local_config_client(app.config_service, app.config, principal),
          .jobs = client::open_local_job_client(app.jobs, principal),
          .audit = client::open_local_audit_client(app.audit, app.anchors, principal),
          .policy = client::open_local_policy_client({app.engine, app.gate, app.config, data_dir}),
          .storage = client::open_local_storage_client({app.storage, app.migrations, principal, data_dir}),
          .images = client::open_local_image_client({app.images, app.image_jobs, principal, data_dir}),
          .automation = client::open_local_automation_client(app.automation, principal)};
}

OpenInstance::OpenInstance(std::unique_ptr<net::HttpClient> http, std::unique_ptr<net::ApiClient> api)
    : http_(std::move(http)), api_(std::move(api)), client_(client::open_http_instance_client(*api_)) {}

OpenInstance::OpenInstance(std::unique_ptr<app::Instance> local, const std::string& data_dir)
    : local_(std::move(local)),
      client_(open_local_instance_client(local_->application(), local_operator(), data_dir)) {}

Result<OpenInstance> open_instance(Context& context, const InstanceFlags& flags, Login accepts,
                                   IfAbsent if_absent) {
  if (flags.target.empty())
    return OpenInstance(TRY(open_local(flags.local, if_absent)), data_dir_or_default(flags.local.data_dir));
  auto http = net::make_curl_client();
  auto api =
      std::make_unique<net::ApiClient>(TRY(open_api(context, *http, flags.target, flags.login, accepts)));
  TRY(sign_in(context, *api, flags.login));
  return OpenInstance(std::move(http), std::move(api));
}

}  // namespace dash::cmd
