#include "core/app/object_store_anchor.hpp"

#include "core/storage/store/cursor.hpp"

namespace dash::app {
namespace {

// Newest checkpoints that verifying reads: each covers all before it.
constexpr std::size_t kMaxNotesRead = 64;
constexpr std::size_t kMaxNoteBytes = 4 << 10;  // bytes

// Returns origin, size and root: the lines before time and signature.
std::string_view signed_tree_head(std::string_view note) {
  std::size_t end = 0;
  for (int line = 0; line < 3 && end != note.npos; ++line) end = note.find('\n', end + 1);
  return note.substr(0, end);
}

class ObjectStoreAnchor final : public audit::Anchor {
 public:
  ObjectStoreAnchor(storage::Stores& stores, std::string signer)
      : stores_(stores), prefix_("dashctl-audit/" + std::move(signer) + "/") {}

  std::string name() const override { return "active store: " + prefix_; }

  Result<std::string> newest() override { return read_last(1); }
  Result<std::string> all() override { return read_last(kMaxNotesRead); }

  Result<void> add(const audit::Checkpoint& checkpoint) override {
    auto store = TRY(stores_.open(local_operator(), "")).store;
    auto key = fmt::format("{}{:016}.checkpoint", prefix_, checkpoint.size);
    auto written = store->put(key, checkpoint.note, {.digest = {}, .only_if_absent = true});
    if (written) return {};
    if (written.error().code != Code::conflict) return Failure(written.error());
    // Another replica was first, or our own response was lost: the existing checkpoint must be the same.
    if (signed_tree_head(TRY(read_note(*store, key))) == signed_tree_head(checkpoint.note)) return {};
    return fail(Code::integrity, "{} holds another checkpoint; run `dashctl audit verify`", key);
  }

 private:
  Result<std::string> read_last(std::size_t limit) {
    auto store = TRY(stores_.open(local_operator(), "")).store;
    std::vector<std::string> keys;
    std::string cursor;
    do {
      auto page = TRY(store->list(prefix_, cursor));
      for (auto& object : page.objects) keys.push_back(std::move(object.key));
      if (keys.size() > limit) keys.erase(keys.begin(), keys.end() - static_cast<std::ptrdiff_t>(limit));
      TRY(storage::advance_cursor(cursor, std::move(page.cursor)));
    } while (!cursor.empty());
    std::string out;
    for (const auto& key : keys) out += (out.empty() ? "" : "\n") + TRY(read_note(*store, key));
    return out;
  }

  static Result<std::string> read_note(storage::ObjectStore& store, const std::string& key) {
    std::string text(kMaxNoteBytes, '\0');
    text.resize(TRY(store.read(key, 0, "", text)));
    return text;
  }

  storage::Stores& stores_;
  const std::string prefix_;
};

}  // namespace

std::unique_ptr<audit::Anchor> object_store_anchor(storage::Stores& stores, std::string signer) {
  return std::make_unique<ObjectStoreAnchor>(stores, std::move(signer));
}

}  // namespace dash::app
