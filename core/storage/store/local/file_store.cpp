#include "core/storage/store/local/file_store.hpp"

#include <algorithm>
#include <atomic>

#include "core/storage/store/key.hpp"
#include "core/storage/store/local/exact_tree.hpp"
#include "core/storage/store/local/file_page.hpp"
#include "core/storage/store/local/staging.hpp"

namespace dash::storage::local {
namespace {

constexpr int kMaxDepth = 32;
constexpr std::size_t kPieceBytes = 256u << 10;  // read at a time for a writer without memory
// An abandoned upload is dropped by the next one that begins; handles live 12 h. One that is dated as far
// ahead was begun while the clock was wrong: its handle has expired. A share's clock may be off by less.
constexpr std::chrono::hours kStagingLifetime{24};

Result<void> check_path(std::string_view key) {
  TRY(check_key(key));
  if (key.front() == '.' || key.find("/.") != key.npos)
    return fail(Code::invalid,
                "'{}' has a part that begins with a dot; such names are reserved for the store", key);
  return {};
}

Object to_object(const std::string& key, const FileEntry& entry) {
  return {key, entry.size, entry.version, entry.modified, ""};
}

class FileStore final : public ObjectStore {
 public:
  FileStore(std::unique_ptr<FileTree> tree, const Clock& clock)
      : tree_(std::move(tree)), staging_(*tree_), clock_(clock) {}

  Capabilities capabilities() const override {
    return {.max_bytes = 1ull << 43,
            .is_parallel = true,
            .keeps_digest_on_put = false,
            .keeps_digest_on_commit = false,
            .copies_inside = false};
  }
  std::string place() const override { return tree_->place(); }

  Result<ObjectPage> list(std::string_view prefix, std::string_view cursor) override {
    TRY(recover());
    FilePage found(prefix, cursor);
    auto folder = parent_of(prefix);
    auto walked = walk(folder, found, 0);
    // An absent root is a mistake in the settings; an absent folder beneath it is empty.
    if (!walked && (walked.error().code != Code::not_found || folder.empty()))
      return Failure(root_error(std::move(walked).error()));
    return std::move(found).take();
  }

  Result<Object> head(const std::string& key) override { return to_object(key, TRY(file(key))); }

  Result<std::uint64_t> read(const std::string& key, ByteRange range, std::string_view must_match,
                             RandomWriter& out) override {
    TRY(check_path(key));
    TRY(recover());
    auto memory = out.memory({0, range.size});
    if (!memory.empty()) return TRY(tree_->read(key, range.offset, must_match, memory));
    return read_in_pieces(key, range, must_match, out);
  }

  Result<Object> put(const std::string& key, const Payload& payload, const PutOptions& options) override {
    TRY(check_path(key));
    TRY(recover());
    auto path = TRY(in_root(staging_.write_file(payload.bytes)));
    auto placed = recover_later_on_error(staging_.place(path, key, !options.only_if_absent));
    if (!placed) {
      (void)tree_->remove(path);  // the rename's error is the one to report
      return Failure(std::move(placed).error());
    }
    return head(key);
  }

  Result<void> remove(const std::string& key) override {
    TRY(file(key));
    return tree_->remove(key);
  }

  Result<std::string> begin(const std::string& key, std::optional<std::uint64_t>) override {
    TRY(check_path(key));
    TRY(staging_.sweep(clock_.now() - kStagingLifetime, clock_.now() + kStagingLifetime));
    return write_staged_upload(TRY(in_root(staging_.begin(key))));
  }
  // On a share an answer can be lost, and then the commit must find what it made.
  Result<std::string> begin_at_once(const std::string& key, std::uint64_t size) override {
    if (!tree_->replaces_in_one_step()) return begin(key, size);
    TRY(check_path(key));
    TRY(staging_.sweep(clock_.now() - kStagingLifetime, clock_.now() + kStagingLifetime));
    return write_staged_upload(TRY(in_root(staging_.begin_at_once(key))));
  }
  Result<std::string> put_part(const std::string& upload, std::uint32_t n, const Payload& payload,
                               bool) override {
    TRY(staging_.put_part(TRY(read_staged_upload(upload)), n, payload.bytes));
    return std::string();
  }
  Result<std::vector<StagedPart>> staged_parts(const std::string& upload) override {
    return staging_.parts(TRY(read_staged_upload(upload)));
  }
  Result<Object> commit(const std::string& upload, const std::vector<StagedPart>& parts,
                        const PutOptions& options) override {
    auto ref = TRY(read_staged_upload(upload));
    TRY(check_path(ref.key));
    TRY(recover());
    auto made = recover_later_on_error(staging_.commit(ref, parts, !options.only_if_absent));
    return to_object(ref.key, TRY(std::move(made)));
  }
  Result<void> check_target(const std::string& key) override {
    TRY(check_path(key));
    auto existing = tree_->stat(key);
    if (!existing && existing.error().code == Code::not_found) return {};
    auto kind = TRY(std::move(existing)).kind;
    if (kind == FileKind::file) return {};
    return fail(Code::invalid, "'{}' is the name of a {} in {}; move that away first", key,
                kind == FileKind::folder ? "folder" : "link or a device", place());
  }
  Result<void> abort(const std::string& upload) override {
    return staging_.abort(TRY(read_staged_upload(upload)));
  }
  // What a crash left of a replacement is put back first: it is no leftover.
  Result<std::vector<Leftover>> leftovers(std::string_view prefix, Time older_than) override {
    if (prefix != kStagingPrefix) return std::vector<Leftover>();
    TRY(recover());
    auto found = TRY(staging_.leftovers(older_than, clock_.now() + kStagingLifetime));
    if (!found.empty()) TRY(staging_.check_clock(clock_));
    return found;
  }
  Result<void> drop(const Leftover& leftover) override { return staging_.drop_leftover(leftover); }

 private:
  Result<FileEntry> file(const std::string& key) {
    TRY(check_path(key));
    TRY(recover());
    auto entry = TRY(tree_->stat(key));
    if (entry.kind != FileKind::file) return fail(Code::not_found, "there is no file '{}'", key);
    return entry;
  }

  // For a writer without memory of its own.
  Result<std::uint64_t> read_in_pieces(const std::string& key, ByteRange range, std::string_view must_match,
                                       RandomWriter& out) {
    auto piece = std::make_unique_for_overwrite<char[]>(kPieceBytes);
    std::uint64_t done = 0;
    while (done < range.size) {
      std::span into(piece.get(),
                     static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, range.size - done)));
      auto n = TRY(tree_->read(key, range.offset + done, must_match, into));
      if (n > 0) TRY(out.write(done, {into.data(), n}));
      done += n;
      if (n < into.size()) break;
    }
    return done;
  }

  // Restores what a crash, of this process or of a lost connection, left of a replacement.
  Result<void> recover() {
    if (tree_->replaces_in_one_step() || !needs_recovery_.exchange(false)) return {};
    auto recovered = staging_.recover();
    if (!recovered) needs_recovery_ = true;
    return recovered;
  }
  template <class T>
  T recover_later_on_error(T result) {
    if (!result) needs_recovery_ = true;
    return result;
  }

  // The store's own writes fail only because of the root.
  template <class T>
  Result<T> in_root(Result<T> result) const {
    if (!result) return Failure(root_error(std::move(result).error()));
    return result;
  }
  Error root_error(Error error) const {
    if (error.code == Code::not_found || error.code == Code::invalid) {
      error.code = Code::upstream;
      error.message = fmt::format(
          "{} does not exist or is not a folder; create it or correct storage_local_path", place());
    }
    return error;
  }

  // Adds the files beneath `folder` that the page may have.
  Result<void> walk(const std::string& folder, FilePage& found, int depth) {
    if (depth > kMaxDepth) return {};
    auto key_of = [&](std::string_view name) {
      return folder.empty() ? std::string(name) : fmt::format("{}/{}", folder, name);
    };
    auto wants = [&](std::string_view name, FileKind kind) {
      if (name.starts_with('.') || kind == FileKind::other) return false;
      return kind == FileKind::file ? found.may_have(key_of(name))
                                    : found.may_have_beneath(key_of(name) + "/");
    };
    return tree_->visit(folder, wants, [&](const FileEntry& entry) -> Result<void> {
      auto key = key_of(entry.name);
      if (entry.kind == FileKind::file) found.add(to_object(key, entry));
      if (entry.kind != FileKind::folder) return {};
      auto inner = walk(key, found, depth + 1);
      // a folder may disappear meanwhile
      if (!inner && inner.error().code != Code::not_found) return inner;
      return {};
    });
  }

  std::unique_ptr<FileTree> tree_;
  Staging staging_;
  const Clock& clock_;
  std::atomic<bool> needs_recovery_ = true;
};

}  // namespace

std::unique_ptr<ObjectStore> make_file_store(std::unique_ptr<FileTree> tree, const Clock& clock) {
  return std::make_unique<FileStore>(make_exact_tree(std::move(tree)), clock);
}

}  // namespace dash::storage::local
