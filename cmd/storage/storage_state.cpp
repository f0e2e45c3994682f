#include "cmd/cli/printer.hpp"
#include "cmd/state_flags.hpp"
#include "cmd/storage/storage.hpp"

namespace dash::cmd {
namespace {

struct StateFlags {
  InstanceFlags instance;
  std::string verb;
  std::string job;
  std::string id;
};

std::string text_of(const Json& value) {
  if (value.is_null()) return "-";
  return printable(value.is_string() ? value.get<std::string>() : dump_json(value));
}

std::string lock_text(const Json& item) {
  const auto& lock = item.at("lock");
  if (lock.is_null()) return "";
  return fmt::format("  locked by {} since {}, id {}", text_of(lock.at("who")),
                     text_of(lock.at("created_at")), text_of(lock.at("id")));
}

Result<void> list_states(Context& context, client::StorageClient& storage) {
  auto listing = TRY(storage.states());
  for (const auto& item : listing.at("items"))
    context.out.line("{:<24}  serial {:>4}  {:>4} resources  {}{}", text_of(item.at("job")),
                     text_of(item.at("serial")), text_of(item.at("resources")), text_of(item.at("key")),
                     lock_text(item));
  context.out.note("{} states in {}", listing.at("items").size(), listing.value("backend", ""));
  context.out.document(OrderedJson(listing));
  return {};
}

Result<void> show_state(Context& context, client::StorageClient& storage, const std::string& job) {
  auto state = TRY(storage.state(job));
  context.out.line("{} in {}, serial {}, lineage {}{}", text_of(state.at("key")), state.value("backend", ""),
                   text_of(state.at("serial")), text_of(state.at("lineage")), lock_text(state));
  for (const auto& resource : state.at("resources"))
    context.out.line("{}  {}", text_of(resource.at("address")), text_of(resource.at("type")));
  for (const auto& [name, value] : state.at("outputs").items())
    context.out.line("{} = {}", printable(name), value.is_null() ? "(sensitive)" : text_of(value));
  context.out.document(OrderedJson(state));
  return {};
}

// A version without a name is the newest of a store that numbers only what was replaced.
Result<void> print_history(Context& context, client::StorageClient& storage, const std::string& job) {
  auto history = TRY(storage.state_history(job));
  for (const auto& version : history.at("versions"))
    context.out.line("{}  {:>10}  {}{}", text_of(version.at("modified_at")), text_of(version.at("bytes")),
                     version.value("id", "").empty() ? "-" : text_of(version.at("id")),
                     version.value("current", false)   ? "  (current)"
                     : version.value("deleted", false) ? "  (deleted then)"
                                                       : "");
  context.out.line("{} in {}: {}", text_of(history.at("key")), history.value("backend", ""),
                   text_of(history.at("message")));
  context.out.document(OrderedJson(history));
  return {};
}

Result<void> unlock_state(Context& context, client::StorageClient& storage, const StateFlags& options) {
  if (options.id.empty())
    return fail(Code::usage, "unlock needs the lock's id, as `dashctl storage state list` shows it");
  auto answer = TRY(storage.unlock_state(options.job, options.id));
  context.out.line("unlocked the state of {}", printable(options.job));
  context.out.document(OrderedJson(answer));
  return {};
}

Result<void> run_state(Context& context, const StateFlags& options) {
  if (options.verb != "list" && options.job.empty())
    return fail(Code::usage, "{} needs a JOB, as `dashctl storage state list` shows it", options.verb);
  auto instance = TRY(open_instance(context, options.instance, Login::any));
  if (options.verb == "list") return list_states(context, *instance->storage);
  if (options.verb == "show") return show_state(context, *instance->storage, options.job);
  if (options.verb == "history") return print_history(context, *instance->storage, options.job);
  return unlock_state(context, *instance->storage, options);
}

struct SwitchFlags {
  InstanceFlags instance;
  setup::StateOptions state;
  std::string backend;
};

Result<void> run_switch(Context& context, const SwitchFlags& options) {
  if (options.backend.empty()) return fail(Code::usage, "name the backend to switch to");
  auto instance = TRY(open_instance(context, options.instance, Login::any));
  auto answer = TRY(instance->config->switch_backend(options.backend, options.state));
  context.out.line("{} is the active backend", printable(options.backend));
  for (const auto& left : answer.value("iac_state_left", Json::array()))
    context.out.line("left on {}: {}", text_of(left.at("backend")), text_of(left.at("key")));
  context.out.document(OrderedJson(answer));
  return {};
}

}  // namespace

Run declare_storage_switch(Flags& flags) {
  auto options = std::make_shared<SwitchFlags>();
  flags.argument("BACKEND", options->backend, "backend to make the active one").required();
  declare_state(flags, options->state);
  declare_instance(flags, options->instance);
  return [options](Context& context) { return run_switch(context, *options); };
}

Run declare_storage_state(Flags& flags) {
  auto options = std::make_shared<StateFlags>();
  flags.argument("VERB", options->verb, "list, show, history or unlock")
      .required()
      .one_of({"list", "show", "history", "unlock"});
  flags.argument("JOB", options->job, "job that the state belongs to");
  flags.argument("ID", options->id, "id of the lock, for unlock");
  flags.text("--id", options->id, "ID", "id of the lock, for unlock").guard();
  declare_instance(flags, options->instance);
  return [options](Context& context) { return run_state(context, *options); };
}

}  // namespace dash::cmd
