#include "core/client/desk.hpp"

namespace dash::client {
namespace {

constexpr std::size_t kReadBytes = 256u << 10;

// The same document that the API would send.
Json as_sent(const OrderedJson& answer) { return Json(answer); }

class DirectReading final : public Reading {
 public:
  explicit DirectReading(storage::Found found) : found_(std::move(found)) {}
  std::uint64_t size() const override { return found_.object.size; }
  const std::string& digest() const override { return found_.asset.digest; }
  Result<void> read(std::uint64_t offset, const Room& into) override {
    auto got = TRY(found_.store->read(found_.key, offset, found_.object.etag, into));
    if (got == into.size()) return {};
    return fail(Code::integrity, "the store ended '{}' early; fetch it again", found_.asset.name);
  }

 private:
  storage::Found found_;
};

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
  Result<Json> compare(const std::string& source, const std::string& target, Progress& progress) override {
    return as_sent(to_json(TRY(s_.storage.compare(s_.who, source, target, progress))));
  }
  Result<Json> sweep(const std::string& backend, std::int64_t age_hours) override {
    return as_sent(to_json(TRY(s_.storage.sweep(s_.who, backend, std::chrono::hours(age_hours)))));
  }
  Result<Json> migrate(const storage::MigrateRequest& request, Progress& progress) override {
    return as_sent(to_json(TRY(s_.storage.migration().run(s_.who, request, progress))));
  }

  Result<Json> upload(const std::string& name, std::uint64_t size, const Source& content) override {
    auto file = TRY(s_.storage.receive(s_.who));
    TRY(file->name(name));
    std::string piece(std::min<std::uint64_t>(size, kReadBytes), '\0');
    while (auto n = TRY(content(piece))) TRY(file->write(std::string_view(piece).substr(0, n)));
    return as_sent(to_json(TRY(file->finish())));
  }

  Result<storage::Sequence> sequence() override { return s_.storage.lane().sequence(s_.who); }
  Result<Json> begin(const std::string& name, std::uint64_t size) override {
    return as_sent(to_json(TRY(s_.storage.lane().begin(s_.who, name, static_cast<std::int64_t>(size)))));
  }
  Result<Json> put_part(const std::string& handle, std::uint32_t n, const storage::Payload& part,
                        const std::function<void()>&) override {
    auto& lane = s_.storage.lane();
    return as_sent(to_json(TRY(lane.put_part(s_.who, handle, n, part, "", TRY(lane.sequence(s_.who))))));
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

  Result<OpenedReading> open(const std::string& backend, const std::string& name,
                             std::span<char> first) override {
    auto [found, size] = TRY(s_.storage.assets().open(s_.who, backend, name, first));
    return OpenedReading{std::make_unique<DirectReading>(std::move(found)), size};
  }

 private:
  LocalDesk s_;
};

}  // namespace

std::unique_ptr<Desk> open_local_desk(LocalDesk seams) {
  return std::make_unique<DirectDesk>(std::move(seams));
}

}  // namespace dash::client
