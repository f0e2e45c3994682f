#include "cmd/cli/interrupt.hpp"
#include "cmd/cli/printer.hpp"
#include "cmd/storage/storage.hpp"
#include "core/client/image_client.hpp"
#include "core/client/journal.hpp"
#include "core/storage/store/backends.hpp"

namespace dash::cmd {
namespace {

// A part is read while the one before it is sent.
constexpr std::size_t kImageBuffers = 2;

struct HubFlags {
  InstanceFlags instance;
  std::string verb, what, name, cloud;
};

// BACKEND:KEY of a build. A file whose name looks so is written with "./".
struct BuildObject {
  std::string backend, key;
};
std::optional<BuildObject> build_object(std::string_view text) {
  auto colon = text.find(':');
  if (colon == text.npos || !storage::find_backend(text.substr(0, colon))) return std::nullopt;
  return BuildObject{std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

// Runs `work`, which waits for a job; Ctrl-C cancels the job.
template <class Work>
Result<Json> do_until_interrupted(client::ImageClient& images, Work work) {
  set_interrupt_message("the job was cancelled; nothing half-written is left");
  OnInterrupt stop([&images] { images.stop_job(); });
  return work();
}

std::string hub_text(const Json& value) {
  return value.is_string() ? printable(value.get<std::string>()) : "-";
}

Result<void> list_images(Context& context, client::ImageClient& images) {
  auto listing = TRY(images.list());
  for (const auto& item : listing.at("items"))
    context.out.line("{:>14}  {:<6}  {}", item.value("size", std::uint64_t{0}), hub_text(item.at("format")),
                     hub_text(item.at("name")));
  context.out.note("{} images in {}", listing.at("items").size(), listing.value("hub", ""));
  context.out.document(OrderedJson(listing));
  return {};
}

Result<void> delete_image(Context& context, client::ImageClient& images, const std::string& name) {
  auto answer = TRY(images.remove(name));
  context.out.line("deleted {}", printable(name));
  context.out.document(OrderedJson(answer));
  return {};
}

Result<void> put_file(Context& context, client::ImageClient& images, const HubFlags& options) {
  auto plan = TRY(client::plan_image(options.what, options.name));
  TransferProgress transfer(context.out.progress(), options.what);
  transfer.add_total(plan.size);
  BufferPool buffers(kImageBuffers);
  auto answer = TRY(client::send_chunked(
      plan, {images.uploads(), buffers, [&](std::uint64_t bytes) { transfer.add_done(bytes); },
             client::journal_folder(), options.instance.login.admin_user}));
  context.out.line("{} is on the hub, {} ({} bytes)", printable(plan.name), answer.value("backend", ""),
                   plan.size);
  context.out.document(OrderedJson(answer));
  return {};
}

Result<void> put_build_object(Context& context, client::ImageClient& images, const HubFlags& options,
                              const BuildObject& from) {
  if (from.key.empty()) return fail(Code::usage, "{} names no key: write {}:KEY", options.what, from.backend);
  auto name = options.name.empty() ? from.key.substr(from.key.rfind('/') + 1) : options.name;
  auto result = TRY(do_until_interrupted(images, [&] {
    return images.place({name, from.backend, from.key}, context.out.progress());
  }));
  context.out.line("{} is on the hub, {} ({} bytes)", printable(name), result.value("hub", ""),
                   result.value("size", std::uint64_t{0}));
  if (auto kept = string_member(result, "source_kept"))
    context.out.note("kept {}: {}", printable(options.what), printable(*kept));
  context.out.document(OrderedJson(result));
  return {};
}

Result<void> promote_image(Context& context, client::ImageClient& images, const HubFlags& options) {
  auto result = TRY(do_until_interrupted(images, [&] {
    return images.promote({options.what, options.cloud}, context.out.progress());
  }));
  const auto& staged = result.at("staged");
  context.out.line("{} is staged in {}: {}/{}", printable(options.what), staged.value("backend", ""),
                   printable(staged.value("bucket", "")), printable(staged.value("key", "")));
  context.out.note("next, and not done here: {}", result.at("next_step").value("what", ""));
  context.out.document(OrderedJson(result));
  return {};
}

Result<void> check_words(const HubFlags& options) {
  bool is_put = options.verb == "put", is_promote = options.verb == "promote";
  if (options.verb != "list" && options.what.empty())
    return fail(Code::usage, "{} needs {}", options.verb,
                is_put ? "a FILE or BACKEND:KEY" : "the image's NAME");
  if (is_promote && options.cloud.empty())
    return fail(Code::usage, "promote needs --cloud: cloud1, cloud2, cloud3 or cloud4");
  if (!is_promote && !options.cloud.empty()) return fail(Code::usage, "--cloud is for promote");
  if (!is_put && !options.name.empty()) return fail(Code::usage, "--name is for put");
  return {};
}

Result<void> run_hub(Context& context, const HubFlags& options) {
  TRY(check_words(options));
  auto instance = TRY(open_instance(context, options.instance, Login::any));
  if (options.verb == "list") return list_images(context, *instance->images);
  if (options.verb == "delete") return delete_image(context, *instance->images, options.what);
  if (options.verb == "promote") return promote_image(context, *instance->images, options);
  if (auto from = build_object(options.what))
    return put_build_object(context, *instance->images, options, *from);
  return put_file(context, *instance->images, options);
}

}  // namespace

Run declare_storage_hub(Flags& flags) {
  auto options = std::make_shared<HubFlags>();
  flags.argument("VERB", options->verb, "list, put, delete or promote")
      .required()
      .one_of({"list", "put", "delete", "promote"});
  flags.argument("IMAGE", options->what,
                 "file to put, or BACKEND:KEY of a build; or name of the image to delete or promote");
  flags.text("--name", options->name, "N", "name on the hub, for put; that of the file or key by default");
  flags.text("--cloud", options->cloud, "CLOUD", "cloud to promote to: cloud1, aws, …");
  declare_instance(flags, options->instance);
  return [options](Context& context) { return run_hub(context, *options); };
}

}  // namespace dash::cmd
