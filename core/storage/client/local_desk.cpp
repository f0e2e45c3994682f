#include "core/storage/asset_reader.hpp"
#include "core/storage/client/desk.hpp"

namespace dash::storage {
namespace {

constexpr std::size_t kPieceBytes = 1u << 20;

// The same document that the API would send.
Json as_sent(const OrderedJson& answer) { return Json(answer); }

class DirectDesk final : public Desk {
 public:
  explicit DirectDesk(LocalDesk seams) : s_(std::move(seams)) {}
  std::string name() const override { return s_.data_dir; }

  Result<Json> backends() override { return as_sent(TRY(s_.storage.config().backends())); }
  Result<Json> list(const std::string& backend) override {
    auto& assets = s_.storage.assets();
    return as_sent(to_json(TRY(backend.empty() ? assets.list(s_.who) : assets.list(s_.who, backend))));
  }
  Result<Json> remove(const std::string& name) override {
    TRY(s_.storage.assets().remove(s_.who, name));
    return Json{{"ok", true}, {"deleted", name}};
  }
  Result<Json> test(const std::string& backend, bool is_deep) override {
    if (is_deep) return as_sent(to_json(TRY(s_.storage.deep_test(s_.who, backend))));
    return as_sent(to_json(TRY(s_.storage.assets().test(s_.who, backend))));
  }

  Result<Json> upload(const std::string& name, std::string_view bytes) override {
    auto file = TRY(s_.storage.receive(s_.who));
    TRY(file->name(name));
    TRY(file->write(bytes));
    return as_sent(to_json(TRY(file->finish())));
  }
  Result<Json> begin(const std::string& name, std::uint64_t size) override {
    return as_sent(to_json(TRY(s_.storage.lane().begin(s_.who, name, static_cast<std::int64_t>(size)))));
  }
  Result<Json> put_part(const std::string& handle, std::uint32_t n, std::string_view bytes) override {
    return as_sent(to_json(TRY(s_.storage.lane().put_part(s_.who, handle, n, bytes, ""))));
  }
  Result<Json> status(const std::string& handle) override {
    return as_sent(to_json(TRY(s_.storage.lane().status(s_.who, handle))));
  }
  Result<Json> commit(const std::string& handle, const Json& parts) override {
    return as_sent(to_json(TRY(s_.storage.lane().commit(s_.who, handle, parts))));
  }
  Result<Json> abort(const std::string& handle) override {
    return as_sent(to_json(TRY(s_.storage.lane().abort(s_.who, handle))));
  }

  Result<Head> fetch(const std::string& backend, const std::string& name, const Sink& sink) override {
    auto found = TRY(s_.storage.assets().find(s_.who, backend, name));
    Head head{found.object.size, found.asset.digest};
    AssetReader reader(std::move(found), 0, head.size, s_.parts, s_.clock);
    std::string piece(kPieceBytes, '\0');
    while (auto n = TRY(reader.read(piece))) TRY(sink(std::string_view(piece).substr(0, n)));
    return head;
  }

 private:
  LocalDesk s_;
};

}  // namespace

std::unique_ptr<Desk> open_local_desk(LocalDesk seams) {
  return std::make_unique<DirectDesk>(std::move(seams));
}

}  // namespace dash::storage
