// The flags that name an instance and sign in to it, the same in every command: --target URL for its API, or
// --data-dir DIR for its data folder (default $DASHCTL_DATA_DIR, else the XDG data folder).
#pragma once
#include <memory>
#include <string>

#include "cmd/cli/tree.hpp"
#include "core/app/application.hpp"
#include "core/base/principal.hpp"
#include "core/client/instance_client.hpp"

namespace dash::cmd {

struct LoginFlags {
  std::string token, token_file, admin_user, password_file, ca_bundle;
  std::string password_flag = "--password-file";  // its name, for messages
  bool is_insecure = false;
  std::int64_t timeout_seconds = 30;
};
struct LocalFlags {
  std::string data_dir, database, signing_key_file, encryption_key_file;
};
struct InstanceFlags {
  std::string target;
  LoginFlags login;
  LocalFlags local;
};

// Declares --ca-bundle, --insecure and --timeout.
void declare_connection(Flags& flags, LoginFlags& into);
// Includes those of declare_connection().
void declare_login(Flags& flags, LoginFlags& into);
void declare_local(Flags& flags, LocalFlags& into);
// Declares --target alone.
void declare_url(Flags& flags, std::string& into);
// All of the above.

void declare_instance(Flags& flags, InstanceFlags& into);

// What the routes of a command accept: `session` only a login (setup routes, changes of users and tokens),
// `any` also a personal access token.
enum class Login { session, any };

// Returns a client that is not signed in yet. Code::forbidden, before any network call, for a personal access
// token where only a login works, and for one in the place of a password.
Result<net::ApiClient> open_api(Context& context, net::HttpClient& http, const std::string& url,
                                const LoginFlags& flags, Login accepts);
// Code::forbidden when it is a personal access token.
Result<void> check_no_pat(const Secret& password, const std::string& url);
// Calls read_new_secret(). Code::forbidden when it is a personal access token.
Result<Secret> read_new_password(Context& context, const std::string& file, const std::string& prompt,
                                 const std::string& flag);
// Reads the password of --admin-user, from a terminal prompt where no file was named. Read once. Code::usage
// where no prompt is possible, Code::forbidden when it is a personal access token.
Result<void> read_password(Context& context, const net::ApiClient& api, const LoginFlags& flags);
// Signs in with --token or --token-file, else by a login as --admin-user.
Result<void> sign_in(Context& context, net::ApiClient& api, const LoginFlags& flags);

// Returns `data_dir`, else the default of the XDG base directory specification. The flag itself reads
// $DASHCTL_DATA_DIR.
std::string data_dir_or_default(const std::string& data_dir);
app::Options local_options(const LocalFlags& flags);
// A mistyped folder must not become an empty instance that answers: only commands that set one up create it.
enum class IfAbsent { fail, make };
Result<std::unique_ptr<app::Instance>> open_local(const LocalFlags& flags,
                                                  IfAbsent if_absent = IfAbsent::fail);

// Returns the clients of an instance on its data folder.
client::InstanceClient open_local_instance_client(app::Application& app, const Principal& principal,
                                                  const std::string& data_dir);

// An instance, signed in, and everything that its clients refer to.
class OpenInstance {
 public:
  OpenInstance(std::unique_ptr<net::HttpClient> http, std::unique_ptr<net::ApiClient> api);
  // Opens it for the operator at the shell.
  OpenInstance(std::unique_ptr<app::Instance> local, const std::string& data_dir);
  const client::InstanceClient* operator->() const { return &client_; }

 private:
  std::unique_ptr<net::HttpClient> http_;
  std::unique_ptr<net::ApiClient> api_;
  std::unique_ptr<app::Instance> local_;
  client::InstanceClient client_;
};
Result<OpenInstance> open_instance(Context& context, const InstanceFlags& flags, Login accepts,
                                   IfAbsent if_absent = IfAbsent::fail);

}  // namespace dash::cmd
