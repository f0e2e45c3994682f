#include "core/storage/store/agent/store.hpp"

#include "core/base/text.hpp"
#include "core/storage/store/backends.hpp"
#include "core/storage/store/key.hpp"
#include "core/storage/store/names.hpp"

namespace dash::storage::agent {
namespace {

Object to_object(ShareFile file) {
  return {std::move(file.name), file.size, std::move(file.etag), Time{}, ""};
}

Result<void> check_name(const std::string& key) {
  TRY(check_key(key));
  TRY(check_file_name(key));
  return check_agent_name(key);
}

class AgentStore final : public ObjectStore {
 public:
  // The place is no URL: an agent's name is no network address, and every user may read it.
  AgentStore(const ShareSettings& settings, std::unique_ptr<AgentShare> share)
      : share_(std::move(share)),
        place_(fmt::format("agent:{}/{}/{}", settings.agent, settings.share, settings.subpath)) {}

  Capabilities capabilities() const override {
    return {.max_bytes = kMaxAgentBytes, .is_parallel = false, .takes_parts = false};
  }
  std::string place() const override { return place_; }

  // The share has the whole listing, so that it is one page.
  Result<ObjectPage> list(std::string_view prefix, std::string_view cursor) override {
    ObjectPage page;
    for (auto& file : TRY(share_->list()))
      if (file.name.starts_with(prefix) && file.name > cursor)
        page.objects.push_back(to_object(std::move(file)));
    return page;
  }
  Result<void> forget_listing() override { return share_->forget_listing(); }

  Result<Object> head(const std::string& key) override {
    TRY(check_name(key));
    return to_object(TRY(share_->head(key)));
  }

  Result<std::uint64_t> read(const std::string& key, ByteRange range, std::string_view must_match,
                             RandomWriter& out) override {
    TRY(check_name(key));
    return TRY(read_from(key, range, std::string(must_match), out)).size;
  }

  Result<OpenResult> open(const std::string& key, std::span<char> out) override {
    TRY(check_name(key));
    SpanWriter writer(out);
    return read_from(key, {0, out.size()}, "", writer);
  }

  // The agent's own write replaces, so a creation looks just before.
  Result<Object> put(const std::string& key, const Payload& payload, const PutOptions& options) override {
    TRY(check_name(key));
    TRY(check_size(key, payload.bytes.size()));
    if (options.only_if_absent) TRY(check_absent(key));
    return to_object(TRY(share_->write(key, payload.bytes)));
  }

  Result<void> remove(const std::string& key) override {
    TRY(check_name(key));
    return share_->remove(key);
  }

  Result<std::string> begin(const std::string& key, std::optional<std::uint64_t> size) override {
    TRY(check_name(key));
    if (size) TRY(check_size(key, *size));
    return no_parts();
  }
  Result<std::string> put_part(const std::string&, std::uint32_t, const Payload&, bool) override {
    return no_parts();
  }
  Result<std::vector<StagedPart>> staged_parts(const std::string&) override { return no_parts(); }
  Result<Object> commit(const std::string&, const std::vector<StagedPart>&, const PutOptions&) override {
    return no_parts();
  }
  Result<void> abort(const std::string&) override { return no_parts(); }

 private:
  Failure no_parts() const {
    return fail(Code::unsupported,
                "{} takes no uploads in parts: a file travels to the agent whole, with {} bytes at most",
                place_, kMaxAgentBytes);
  }

  static Result<void> check_size(const std::string& name, std::uint64_t size) {
    if (size <= kMaxAgentBytes) return {};
    return Failure(
        too_large("'{}' has {} bytes, and a remote agent's share takes {} at most; for larger files use a "
                  "cloud backend",
                  name, size, kMaxAgentBytes));
  }

  Result<void> check_absent(const std::string& name) {
    auto existing = share_->head(name);
    if (existing) return fail(Code::conflict, "'{}' exists in {}", name, place_);
    if (existing.error().code != Code::not_found) return Failure(std::move(existing).error());
    return {};
  }

  // All that the range has of the file, piece by piece, of one version: that of `must_match`, or of the first
  // piece.
  Result<OpenResult> read_from(const std::string& key, ByteRange range, std::string must_match,
                               RandomWriter& out) {
    OpenResult result;
    for (bool is_first = true; is_first || result.size < range.size; is_first = false) {
      auto piece = TRY(share_->read(key, range.offset + result.size, range.size - result.size));
      if (!must_match.empty() && piece.file.etag != must_match)
        return fail(Code::precondition, "'{}' was replaced", key);
      must_match = piece.file.etag;
      if (piece.bytes.size() > range.size - result.size)
        return fail(Code::upstream, "the agent sent more of '{}' than it was asked for", key);
      result.object = to_object(std::move(piece.file));
      if (piece.bytes.empty()) break;
      TRY(out.write(result.size, piece.bytes));
      result.size += piece.bytes.size();
      if (range.offset + result.size >= result.object.size) break;
    }
    return result;
  }

  std::unique_ptr<AgentShare> share_;
  std::string place_;
};

class ShareWithoutQueue final : public AgentShare {
 public:
  explicit ShareWithoutQueue(std::string agent) : agent_(std::move(agent)) {}
  Result<std::vector<ShareFile>> list() override { return refuse(); }
  Result<void> forget_listing() override { return refuse(); }
  Result<ShareFile> head(const std::string&) override { return refuse(); }
  Result<ShareRead> read(const std::string&, std::uint64_t, std::uint64_t) override { return refuse(); }
  Result<ShareFile> write(const std::string&, std::string_view) override { return refuse(); }
  Result<void> remove(const std::string&) override { return refuse(); }

 private:
  Failure refuse() const {
    return fail(Code::upstream, "this process has no queue for the remote agent '{}'", agent_);
  }
  std::string agent_;
};

}  // namespace

ShareSettings read_share_settings(const config::Values& values) {
  auto text = [&](std::string_view key) { return std::string(trim(value_of(values, key))); };
  return {text("storage_agent_id"), text("storage_agent_share"), text("storage_agent_subpath"),
          !value_of(values, "storage_agent_password").empty()};
}

std::unique_ptr<ObjectStore> make_agent_store(const ShareSettings& settings,
                                              std::unique_ptr<AgentShare> share) {
  return std::make_unique<AgentStore>(settings, std::move(share));
}

Result<std::unique_ptr<ObjectStore>> open_agent_share(const config::Values& values) {
  auto settings = read_share_settings(values);
  return make_agent_store(settings, std::make_unique<ShareWithoutQueue>(settings.agent));
}

}  // namespace dash::storage::agent
