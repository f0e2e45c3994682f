#include "cmd/cli/printer.hpp"
#include "cmd/storage/storage.hpp"
#include "core/client/image_client.hpp"
#include "core/client/journal.hpp"

namespace dash::cmd {
namespace {

// A part is read while the one before it is sent.
constexpr std::size_t kImageBuffers = 2;

struct HubFlags {
  InstanceFlags instance;
  std::string verb, what, name;
};

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

Result<void> run_hub(Context& context, const HubFlags& options) {
  if (options.verb != "list" && options.what.empty())
    return fail(Code::usage, "{} needs {}", options.verb,
                options.verb == "put" ? "a FILE" : "the image's NAME");
  auto instance = TRY(open_instance(context, options.instance, Login::any));
  if (options.verb == "list") return list_images(context, *instance->images);
  if (options.verb == "delete") return delete_image(context, *instance->images, options.what);
  return put_file(context, *instance->images, options);
}

}  // namespace

Run declare_storage_hub(Flags& flags) {
  auto options = std::make_shared<HubFlags>();
  flags.argument("VERB", options->verb, "list, put or delete").required().one_of({"list", "put", "delete"});
  flags.argument("IMAGE", options->what, "file to put, or name of the image to delete");
  flags.text("--name", options->name, "N", "name on the hub, for put; the file's by default");
  declare_instance(flags, options->instance);
  return [options](Context& context) { return run_hub(context, *options); };
}

}  // namespace dash::cmd
