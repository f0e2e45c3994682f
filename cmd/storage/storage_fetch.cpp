#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

#include "cmd/cli/printer.hpp"
#include "cmd/storage/storage.hpp"
#include "core/client/parallel.hpp"
#include "core/client/receive.hpp"
#include "core/storage/store/key.hpp"

namespace dash::cmd {
namespace {

struct FetchFlags {
  InstanceFlags instance;
  std::vector<std::string> names;
  std::string out, backend;
};

// Takes names as they are, and matches patterns with the listing as a shell does ('*' stays within a folder).
Result<std::vector<std::string>> expand(client::StorageClient& client, const FetchFlags& options) {
  if (std::ranges::none_of(options.names, is_pattern)) return options.names;
  std::vector<std::string> available;
  TRY(for_each_page(client, options.backend, [&](const Json& page) {
    for (const auto& item : page.at("items")) available.push_back(item.at("name").get<std::string>());
  }));
  std::vector<std::string> names;
  for (const auto& word : options.names) {
    auto before = names.size();
    bool is_name = !is_pattern(word) || std::ranges::find(available, word) != available.end();
    for (const auto& name : available)
      if (!is_name && ::fnmatch(word.c_str(), name.c_str(), FNM_PATHNAME) == 0) names.push_back(name);
    if (names.size() == before) names.push_back(word);
  }
  return names;
}

// The destination of the assets: one file, a folder that keeps their names, or standard output.
struct OutputPath {
  std::string path;
  bool is_folder = false;
  bool is_stdout() const { return path == "-"; }

  // Creates the folders above it.
  Result<std::string> file_of(const std::string& name) const {
    if (!is_folder) return path;
    TRY(storage::check_key(name));  // it may come from a listing: nothing outside of the folder
    auto file = std::filesystem::path(path) / name;
    std::error_code ec;
    std::filesystem::create_directories(file.parent_path(), ec);
    if (ec)
      return fail(Code::internal, "cannot make the folder {}: {}", file.parent_path().string(), ec.message());
    return file.string();
  }
};

Result<OutputPath> output_path(const FetchFlags& options) {
  bool is_one = options.names.size() == 1 && !is_pattern(options.names[0]);
  if (options.out.empty() && is_one)
    return OutputPath{std::filesystem::path(options.names[0]).filename().string()};
  if (options.out.empty()) return OutputPath{".", true};
  if (options.out == "-") return OutputPath{options.out};
  std::error_code error;  // what cannot be looked at cannot be written either, and that is said then
  if (options.out.ends_with('/') || std::filesystem::is_directory(options.out, error))
    return OutputPath{options.out, true};
  if (is_one) return OutputPath{options.out};
  return fail(Code::usage, "several assets need a folder: -o {}/", options.out);
}

OrderedJson record_of(const std::string& name, const std::string& path, const client::ReceiveResult& got) {
  return {{"name", name},
          {"file", path},
          {"size", got.size},
          {"digest", got.digest},
          {"verified", got.is_verified}};
}

Result<void> fetch_one(Context& context, const FetchFlags& options, const OutputPath& output,
                       const client::ReceiveDeps& deps) {
  auto got = TRY(client::receive_file(options.names[0], output.path, deps));
  context.out.line("{}", printable(output.path));
  context.out.note("{} bytes, {}{}", got.size, got.digest, got.is_verified ? ", verified" : "");
  context.out.document(record_of(options.names[0], output.path, got));
  return {};
}

Result<void> fetch_to_stdout(Context& context, const std::vector<std::string>& names,
                             const client::ReceiveDeps& deps) {
  FunctionSink print([&](std::string_view bytes) -> Result<void> {
    context.out.raw(bytes);
    return {};
  });
  for (const auto& name : names) TRY(client::receive_stream(name, print, deps));
  return {};
}

Result<void> fetch_all(Context& context, const std::vector<std::string>& names, const OutputPath& output,
                       const client::ReceiveDeps& deps) {
  struct FetchResult {
    std::string path;
    client::ReceiveResult got;
  };
  auto fetch = [&](std::size_t i) -> Result<FetchResult> {
    auto path = TRY(output.file_of(names[i]));
    auto got = TRY(client::receive_file(names[i], path, deps));
    return FetchResult{std::move(path), std::move(got)};
  };
  BatchResult batch;
  auto report = [&](std::size_t i, Result<FetchResult> fetched) {
    auto& out = context.out;
    if (fetched) {
      ++batch.done;
      out.line("{}", printable(fetched->path));
      auto record = record_of(names[i], fetched->path, fetched->got);
      record["ok"] = true;
      return out.record(record);
    }
    auto& error = fetched.error();
    out.warn("{}: {}", printable(names[i]), printable(error.message));
    out.record(
        {{"name", names[i]}, {"ok", false}, {"error", info(error.code).word}, {"message", error.message}});
    batch.add_failure(error);
  };
  client::parallel_for_ordered<Result<FetchResult>>(names.size(), kParallelFiles, fetch, report);
  return batch.to_result("assets were not fetched");
}

Result<void> run_fetch(Context& context, const FetchFlags& options) {
  auto output = TRY(output_path(options));
  auto instance = TRY(open_instance(context, options.instance, Login::any));
  auto names = TRY(expand(*instance->storage, options));
  TransferProgress transfer(context.out.progress(),
                            names.size() == 1 ? names[0] : fmt::format("{} assets", names.size()));
  BufferPool buffers(kMaxBuffers);
  client::ReceiveDeps deps{*instance->storage, buffers,
                           [&](std::uint64_t bytes) { transfer.add_done(bytes); },
                           [&](std::uint64_t bytes) { transfer.add_total(bytes); }, options.backend};
  if (output.is_stdout()) return fetch_to_stdout(context, names, deps);
  if (!output.is_folder) return fetch_one(context, options, output, deps);
  return fetch_all(context, names, output, deps);
}

}  // namespace

Run declare_storage_fetch(Flags& flags) {
  auto options = std::make_shared<FetchFlags>();
  flags.arguments("NAME", options->names, "names of assets, or patterns").required();
  flags
      .text("--out", options->out, "PATH",
            "file, folder (DIR/) or - for stdout; by default the name's last part, and for several assets "
            "the current folder")
      .brief("-o");
  flags.text("--backend", options->backend, "ID", "backend to fetch from; the active one by default");
  declare_instance(flags, options->instance);
  return [options](Context& context) { return run_fetch(context, *options); };
}

}  // namespace dash::cmd
