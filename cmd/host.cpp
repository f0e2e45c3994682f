#include <array>

#include "cmd/cli/groups.hpp"
#include "cmd/cli/instance.hpp"
#include "cmd/cli/printer.hpp"
#include "cmd/cli/secret_input.hpp"

namespace dash::cmd {
namespace {

struct HostFlags {
  InstanceFlags instance;
  std::string name, address, user, connection, host_key, host_key_file, workgroup, secret_file;
  std::int64_t port = 0;
  std::vector<std::string> groups, variables, cleared;
  bool asks_secret = false;
  bool accept_new_key = false;
};

void declare_members(Flags& flags, HostFlags& into) {
  flags.text("--address", into.address, "ADDRESS", "DNS name or IP address");
  flags.number("--port", into.port, "N", "port; 22 by default, 5986 for winrm").at_least(1).at_most(65535);
  flags.text("--user", into.user, "USER", "account on the host; the setting ansible_default_user by default");
  flags.text("--connection", into.connection, "HOW", "ssh (the default), winrm or local")
      .one_of({"ssh", "winrm", "local"});
  flags.text("--host-key", into.host_key, "KEY", "the host's public key, as ssh-keyscan prints it")
      .excludes("--host-key-file");
  flags.text("--host-key-file", into.host_key_file, "FILE",
             "the same out of a file; for winrm the certificate to trust, as PEM");
  flags.list("--variable", into.variables, "NAME=VALUE", "variable of the host; VALUE is JSON or plain text");
  flags.list("--group", into.groups, "NAME", "group of the host");
  flags.text("--workgroup", into.workgroup, "NAME", "its members may use the host; without one only admins");
  flags.text("--secret-file", into.secret_file, "FILE", "private key or password, - for stdin");
  flags.toggle("--ask-secret", into.asks_secret, "prompt for the password").excludes("--secret-file");
}

Result<Json> read_variables(const std::vector<std::string>& pairs) {
  auto out = Json::object();
  for (const auto& pair : pairs) {
    auto equals = pair.find('=');
    if (equals == pair.npos || equals == 0)
      return fail(Code::usage, "--variable '{}' is not of the form NAME=VALUE", pair);
    auto text = pair.substr(equals + 1);
    auto value = parse_json(text);
    out[pair.substr(0, equals)] = value ? *value : Json(text);
  }
  return out;
}

// The members that were given.
Result<Json> read_members(Context& context, const HostFlags& options) {
  auto body = Json::object();
  for (const auto& [name, text] : {std::pair{"address", &options.address},
                                   {"user", &options.user},
                                   {"connection", &options.connection},
                                   {"host_key", &options.host_key},
                                   {"workgroup", &options.workgroup}})
    if (!text->empty()) body[name] = *text;
  if (options.port != 0) body["port"] = options.port;
  if (!options.host_key_file.empty())
    body["host_key"] = TRY(read_secret_file(options.host_key_file)).expose();
  if (!options.variables.empty()) body["variables"] = TRY(read_variables(options.variables));
  if (!options.groups.empty()) body["groups"] = options.groups;
  if (!options.secret_file.empty() || options.asks_secret)
    body["secret"] =
        TRY(read_new_secret(context, options.secret_file, "Password of " + options.name, "--secret-file"))
            .expose();
  return body;
}

std::string text_of(const OrderedJson& value, std::string_view otherwise) {
  return value.is_string() ? one_line(value.get<std::string>()) : std::string(otherwise);
}

std::string where_of(const OrderedJson& host) {
  return fmt::format("{} {}:{}", text_of(host.at("connection"), "-"), text_of(host.at("address"), "-"),
                     host.at("port").dump());
}

// A fingerprint is for ssh alone; a certificate shows as that.
std::string key_of(const OrderedJson& host) {
  return text_of(host.at("fingerprint"), host.at("host_key").is_string() ? "certificate" : "no key");
}

Run declare_add(Flags& flags) {
  auto options = std::make_shared<HostFlags>();
  flags.argument("NAME", options->name, "name of the host, as runs name it").required();
  declare_members(flags, *options);
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto body = TRY(read_members(context, *options));
    body["name"] = options->name;
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    auto host = TRY(instance->hosts->add(body));
    context.out.line("added {} ({})", one_line(options->name), where_of(host));
    if (host.at("host_key").is_null() && host.at("connection") == "ssh")
      context.out.note("no key is pinned yet: dashctl host test {} --accept-new-key",
                       one_line(options->name));
    context.out.document(host);
    return {};
  };
}

Run declare_change(Flags& flags) {
  auto options = std::make_shared<HostFlags>();
  flags.argument("NAME", options->name, "name of the host").required();
  declare_members(flags, *options);
  flags.list("--clear", options->cleared, "MEMBER",
             "clear this member, such as host_key, secret or workgroup");
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto body = TRY(read_members(context, *options));
    for (const auto& member : options->cleared) {
      if (body.contains(member)) return fail(Code::usage, "'{}' is both given and cleared", member);
      body[member] = nullptr;
    }
    if (body.empty()) return fail(Code::usage, "name what to change, such as --address or --clear host_key");
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    auto host = TRY(instance->hosts->change(options->name, body));
    context.out.line("changed {} ({})", one_line(options->name), where_of(host));
    context.out.document(host);
    return {};
  };
}

Run declare_list(Flags& flags) {
  auto options = std::make_shared<HostFlags>();
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    auto hosts = TRY(instance->hosts->list());
    for (const auto& host : hosts)
      context.out.line("{:<24} {:<36} {:<16} {}", text_of(host.at("name"), "-"), where_of(host),
                       text_of(host.at("workgroup"), "(admins)"), key_of(host));
    context.out.document({{"hosts", hosts}});
    return {};
  };
}

Run declare_show(Flags& flags) {
  auto options = std::make_shared<HostFlags>();
  flags.argument("NAME", options->name, "name of the host").required();
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    auto host = TRY(instance->hosts->get(options->name));
    for (const auto& [member, value] : host.items())
      context.out.line("{:<12} {}", member,
                       value.is_string() ? one_line(value.get<std::string>()) : one_line(dump_json(value)));
    context.out.document(host);
    return {};
  };
}

Run declare_remove(Flags& flags) {
  auto options = std::make_shared<HostFlags>();
  flags.argument("NAME", options->name, "name of the host").required();
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    TRY(instance->hosts->remove(options->name));
    context.out.line("removed {}", one_line(options->name));
    context.out.document({{"name", options->name}, {"removed", true}});
    return {};
  };
}

// The error of a test, with the exit code of its reason.
Result<void> outcome_of(const OrderedJson& tested) {
  if (tested.at("ok") == true) return {};
  auto reason = text_of(tested.at("reason"), "");
  auto code = Code::upstream;
  for (auto known : {Code::invalid, Code::unauthenticated, Code::unreachable, Code::tls, Code::timeout})
    if (info(known).word == reason) code = known;
  return fail(code, "{}", text_of(tested.at("error"), "the test failed"));
}

Run declare_test(Flags& flags) {
  auto options = std::make_shared<HostFlags>();
  flags.argument("NAME", options->name, "name of the host").required();
  flags.toggle("--accept-new-key", options->accept_new_key, "pin the key of a host that has none pinned")
      .guard();
  declare_instance(flags, options->instance);
  return [options](Context& context) -> Result<void> {
    auto instance = TRY(open_instance(context, options->instance, Login::any));
    auto tested = TRY(instance->hosts->test(options->name, options->accept_new_key));
    context.out.line("{}: {}, key {} ({}), {}", one_line(options->name),
                     tested.at("ok") == true ? "ok" : "not ok", text_of(tested.at("fingerprint"), "-"),
                     tested.at("pinned") == true ? "pinned" : "not pinned",
                     tested.at("logged_in") == true ? "logged in" : "no login");
    context.out.document(tested);
    return outcome_of(tested);
  };
}

}  // namespace

Group host_group() {
  return {"host",
          "Hosts that runs reach",
          {{"add",
            "Add a host",
            "For administrators. The secret is sealed and never shown again. A host without a key cannot be "
            "run on: "
            "give its key, or pin it with `host test --accept-new-key`.",
            declare_add,
            {{"Add a host for a workgroup",
              "dashctl host add web1 --address 192.0.2.10 --user ops --workgroup web --secret-file password"},
             {"Add a Windows host",
              "dashctl host add win1 --address 192.0.2.20 --connection winrm --user ops --secret-file "
              "password"}}},
           {"change",
            "Change a host",
            "What is not given stays. A pinned key stays too, unless it is cleared.",
            declare_change,
            {{"Forget the key of a host that was set up anew", "dashctl host change db1 --clear host_key"}}},
           {"list",
            "List the hosts that you may use",
            "",
            declare_list,
            {{"List the hosts", "dashctl host list"}}},
           {"show",
            "Show a host, without its secret",
            "",
            declare_show,
            {{"Show a host", "dashctl host show db1"}}},
           {"remove", "Remove a host", "", declare_remove, {{"Remove a host", "dashctl host remove db1"}}},
           {"test",
            "Connect to a host and log in",
            "Compares the key that the host shows with the pinned one before anything secret is sent. A "
            "pinned key "
            "is never replaced. For winrm the certificate must be valid.",
            declare_test,
            {{"Test the connection", "dashctl host test db1"},
             {"Pin the key of a new host", "dashctl host test db1 --accept-new-key"}}}}};
}

}  // namespace dash::cmd
