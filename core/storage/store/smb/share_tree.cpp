#include "core/storage/store/smb/share_tree.hpp"

#include <atomic>
#include <mutex>

#include "core/net/process/child.hpp"
#include "core/storage/store/smb/frame.hpp"
#include "core/storage/store/smb/messages.hpp"
#include "core/storage/store/smb/worker.hpp"

namespace dash::storage::smb {
namespace {

using local::FileEntry;
using local::FileKind;
using Due = std::chrono::steady_clock::time_point;

class ShareTree final : public local::FileTree {
 public:
  ShareTree(Share share, std::string program, std::chrono::milliseconds deadline)
      : share_(std::move(share)), program_(std::move(program)), deadline_(deadline) {}

  std::string place() const override {
    return fmt::format("smb://{}:{}/{}{}{}", share_.server, share_.port, share_.share,
                       share_.folder.empty() ? "" : "/", share_.folder);
  }

  Result<FileEntry> stat(const std::string& path) override { return read_entry(TRY(call("stat", path))); }

  Result<std::vector<FileEntry>> list(const std::string& folder) override {
    std::vector<FileEntry> entries;
    TRY(visit(
        folder, [](std::string_view, FileKind) { return true; },
        [&](FileEntry entry) -> Result<void> {
          entries.push_back(std::move(entry));
          return {};
        }));
    return entries;
  }

  // In pieces: between two of them the share is free for other calls.
  Result<void> visit(const std::string& folder, const Wants& wants, const Take& take) override {
    const OrderedJson reading{{"reading", ++readings_}};
    TRY(call("open_folder", folder, reading));
    auto visited = visit_pieces(reading, wants, take);
    if (!visited) (void)call("close_folder", "", reading);
    return visited;
  }

  Result<std::size_t> read(const std::string& path, std::uint64_t offset, std::string_view must_match,
                           std::span<char> out) override {
    std::size_t done = 0;
    while (done < out.size()) {
      auto piece = out.subspan(done, std::min<std::size_t>(out.size() - done, kMaxFrameBytes));
      std::size_t n = 0;
      TRY(call("read", path, {{"offset", offset + done}, {"size", piece.size()}, {"must_match", must_match}},
               {}, piece, &n));
      done += n;
      if (n < piece.size()) break;
    }
    return done;
  }

  Result<void> write(const std::string& path, std::uint64_t offset, std::string_view bytes) override {
    do {
      auto piece = bytes.substr(0, kMaxFrameBytes);
      TRY(call("write", path, {{"offset", offset}}, piece));
      bytes.remove_prefix(piece.size());
      offset += piece.size();
    } while (!bytes.empty());
    return {};
  }

  bool replaces_in_one_step() const override { return false; }
  Result<void> make_folder(const std::string& path) override { return run("make_folder", path); }
  Result<void> rename(const std::string& from, const std::string& to, bool may_replace) override {
    TRY(check_share_path(to));
    return run("rename", from, {{"to", to}, {"may_replace", may_replace ? 1 : 0}});
  }
  Result<void> remove(const std::string& file) override { return run("remove", file); }
  Result<void> remove_folder(const std::string& empty_folder) override {
    return run("remove_folder", empty_folder);
  }

 private:
  Result<void> visit_pieces(const OrderedJson& reading, const Wants& wants, const Take& take) {
    while (true) {
      auto answer = TRY(call("read_folder", "", reading));
      const auto& entries = answer["entries"];
      if (entries.empty()) return {};
      for (const auto& one : entries) {
        auto entry = TRY(read_entry(one));
        if (wants(entry.name, entry.kind)) TRY(take(std::move(entry)));
      }
    }
  }

  Result<void> run(std::string_view op, const std::string& path, OrderedJson more = OrderedJson::object()) {
    TRY(call(op, path, std::move(more)));
    return {};
  }

  Result<Json> call(std::string_view op, const std::string& path, OrderedJson request = OrderedJson::object(),
                    std::string_view bytes = {}, std::span<char> into = {}, std::size_t* received = nullptr) {
    if (!path.empty()) TRY(check_share_path(path));
    request["op"] = op;
    request["path"] = path;
    std::lock_guard lock(mutex_);
    TRY(ensure_child());
    auto answer = send_and_receive(request, bytes, into, received);
    if (!answer && is_lost(answer.error())) child_.reset();
    return answer;
  }

  // After these errors the child hangs, is gone, or has lost its connection.
  static bool is_lost(const Error& error) {
    return error.code == Code::timeout || error.code == Code::unreachable || error.code == Code::integrity;
  }

  Result<void> ensure_child() {
    if (child_ && child_->running()) return {};
    child_ =
        std::make_unique<net::Child>(TRY(net::Child::start({{program_, std::string(kSmbWorker)}, {}, ""})));
    auto hello = write_share(share_);
    hello["op"] = "open";
    auto opened = send_and_receive(hello, {}, {}, nullptr);
    if (!opened) child_.reset();
    TRY(std::move(opened));
    return {};
  }

  Result<Json> send_and_receive(const OrderedJson& request, std::string_view bytes, std::span<char> into,
                                std::size_t* received) {
    auto due = std::chrono::steady_clock::now() + deadline_;
    auto json = dump_json(request);
    auto head =
        write_frame_head({static_cast<std::uint32_t>(json.size()), static_cast<std::uint32_t>(bytes.size())});
    auto answer = [&]() -> Result<Json> {
      TRY(child_->send(head + json, due));
      TRY(child_->send(bytes, due));
      return receive(into, received, due);
    }();
    return within(place(), std::move(answer));
  }

  Result<Json> receive(std::span<char> into, std::size_t* received, Due due) {
    std::string head(kFrameHead, '\0');
    TRY(child_->receive(head, due));
    auto sizes = TRY(read_frame_head(head));
    std::string json(sizes.json, '\0');
    TRY(child_->receive(json, due));
    if (sizes.bytes > into.size())
      return fail(Code::integrity, "the SMB child sent more bytes than were asked for");
    TRY(child_->receive(into.first(sizes.bytes), due));
    if (received) *received = sizes.bytes;
    return read_reply(json);
  }

  Share share_;
  std::string program_;
  std::chrono::milliseconds deadline_;
  std::atomic<std::uint64_t> readings_ = 0;
  std::mutex mutex_;
  std::unique_ptr<net::Child> child_;
};

}  // namespace

std::unique_ptr<local::FileTree> open_share_tree(Share share, std::string program,
                                                 std::chrono::milliseconds deadline) {
  return std::make_unique<ShareTree>(std::move(share), std::move(program), deadline);
}

}  // namespace dash::storage::smb
