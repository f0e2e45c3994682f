#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

#include "cmd/cli/output.hpp"
#include "cmd/storage/storage.hpp"
#include "core/client/hands.hpp"
#include "core/client/receive.hpp"
#include "core/storage/store/key.hpp"

namespace dash::cmd {
namespace {

struct FetchFlags {
  InstanceFlags instance;
  std::vector<std::string> names;
  std::string out, backend;
};

// Names as they are; patterns against the listing, as a shell has them ('*' stays within a folder).
Result<std::vector<std::string>> expand(client::Desk& desk, const FetchFlags& o) {
  if (std::ranges::none_of(o.names, is_pattern)) return o.names;
  std::vector<std::string> there;
  auto listing = TRY(desk.list(o.backend));
  for (const auto& item : listing.at("items")) there.push_back(item.at("name").get<std::string>());
  std::vector<std::string> names;
  for (const auto& word : o.names) {
    auto before = names.size();
    bool is_name = !is_pattern(word) || std::ranges::find(there, word) != there.end();
    for (const auto& name : there)
      if (!is_name && ::fnmatch(word.c_str(), name.c_str(), FNM_PATHNAME) == 0) names.push_back(name);
    if (names.size() == before) names.push_back(word);
  }
  return names;
}

// Where the assets go: one file, a folder that keeps their names, or standard output.
struct Place {
  std::string path;
  bool is_folder = false;
  bool is_stdout() const { return path == "-"; }

  // With the folders above it.
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

Result<Place> place_of(const FetchFlags& o) {
  bool is_one = o.names.size() == 1 && !is_pattern(o.names[0]);
  if (o.out.empty() && is_one) return Place{std::filesystem::path(o.names[0]).filename().string()};
  if (o.out.empty()) return Place{".", true};
  if (o.out == "-") return Place{o.out};
  if (o.out.ends_with('/') || std::filesystem::is_directory(o.out)) return Place{o.out, true};
  if (is_one) return Place{o.out};
  return fail(Code::usage, "several assets need a folder: -o {}/", o.out);
}

OrderedJson record_of(const std::string& name, const std::string& path, const client::Received& got) {
  return {{"name", name},
          {"file", path},
          {"size", got.size},
          {"digest", got.digest},
          {"verified", got.is_verified}};
}

Result<void> fetch_one(Context& context, const FetchFlags& o, const Place& place,
                       const client::ReceiveSeams& seams) {
  auto got = TRY(client::receive_file(o.names[0], place.path, seams));
  context.out.line("{}", printable(place.path));
  context.out.note("{} bytes, {}{}", got.size, got.digest, got.is_verified ? ", verified" : "");
  context.out.document(record_of(o.names[0], place.path, got));
  return {};
}

Result<void> print_all(Context& context, const std::vector<std::string>& names,
                       const client::ReceiveSeams& seams) {
  auto print = [&](std::string_view bytes) -> Result<void> {
    context.out.raw(bytes);
    return {};
  };
  for (const auto& name : names) TRY(client::receive_stream(name, print, seams));
  return {};
}

Result<void> fetch_all(Context& context, const std::vector<std::string>& names, const Place& place,
                       const client::ReceiveSeams& seams) {
  struct Taken {
    std::string path;
    client::Received got;
  };
  auto take = [&](std::size_t i) -> Result<Taken> {
    auto path = TRY(place.file_of(names[i]));
    auto got = TRY(client::receive_file(names[i], path, seams));
    return Taken{std::move(path), std::move(got)};
  };
  Tally tally;
  auto tell = [&](std::size_t i, Result<Taken> taken) {
    auto& out = context.out;
    if (taken) {
      ++tally.done;
      out.line("{}", printable(taken->path));
      auto record = record_of(names[i], taken->path, taken->got);
      record["ok"] = true;
      return out.record(record);
    }
    auto& error = taken.error();
    out.warn("{}: {}", printable(names[i]), printable(error.message));
    out.record(
        {{"name", names[i]}, {"ok", false}, {"error", info(error.code).word}, {"message", error.message}});
    tally.note(error);
  };
  client::each_in_order<Result<Taken>>(names.size(), kFilesAtOnce, take, tell);
  return tally.verdict("assets were not fetched");
}

Result<void> run_fetch(Context& context, const FetchFlags& o) {
  auto place = TRY(place_of(o));
  auto open = TRY(open_desk(context, o.instance));
  auto names = TRY(expand(*open.desk, o));
  Meter meter(context.out.progress(), names.size() == 1 ? names[0] : fmt::format("{} assets", names.size()));
  PartPool parts(kPartsAtOnce);
  client::ReceiveSeams seams{*open.desk, parts, [&](std::uint64_t bytes) { meter.moved(bytes); },
                             [&](std::uint64_t bytes) { meter.expect(bytes); }, o.backend};
  if (place.is_stdout()) return print_all(context, names, seams);
  if (!place.is_folder) return fetch_one(context, o, place, seams);
  return fetch_all(context, names, place, seams);
}

}  // namespace

Run declare_storage_fetch(Flags& flags) {
  auto o = std::make_shared<FetchFlags>();
  flags.arguments("NAME", o->names, "names or patterns of assets").required();
  flags
      .text("--out", o->out, "PATH",
            "file to write, folder (DIR/) that keeps the names, or - for standard output; by default the "
            "name's last part, and for several the current folder")
      .brief("-o");
  flags.text("--backend", o->backend, "ID", "backend to fetch from; the active one by default");
  declare_instance(flags, o->instance);
  return [o](Context& context) { return run_fetch(context, *o); };
}

}  // namespace dash::cmd
