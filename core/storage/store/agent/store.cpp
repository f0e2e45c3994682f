#include "core/storage/store/agent/store.hpp"

#include "core/base/text.hpp"
#include "core/storage/store/backends.hpp"

namespace dash::storage::agent {
namespace {

class AgentShare final : public ObjectStore {
 public:
  // The place is no URL: an agent's name is no network address, and every user may read it.
  AgentShare(std::string agent, std::string share, std::string_view subpath)
      : agent_(std::move(agent)), place_(fmt::format("agent:{}/{}/{}", agent_, share, subpath)) {}

  std::string place() const override { return place_; }
  Result<ObjectPage> list(std::string_view, std::string_view) override { return offline(); }
  Result<Object> head(const std::string&) override { return offline(); }
  Result<std::uint64_t> read(const std::string&, ByteRange, std::string_view, RandomWriter&) override {
    return offline();
  }
  Result<Object> put(const std::string&, const Payload&, const PutOptions&) override { return offline(); }
  Result<void> remove(const std::string&) override { return offline(); }
  Result<std::string> begin(const std::string&, std::optional<std::uint64_t>) override { return offline(); }
  Result<std::string> put_part(const std::string&, std::uint32_t, const Payload&, bool) override {
    return offline();
  }
  Result<std::vector<StagedPart>> staged_parts(const std::string&) override { return offline(); }
  Result<Object> commit(const std::string&, const std::vector<StagedPart>&, const PutOptions&) override {
    return offline();
  }
  Result<void> abort(const std::string&) override { return offline(); }

 private:
  Failure offline() const {
    return fail(Code::upstream, "the agent '{}' is not enrolled with this instance", agent_);
  }
  std::string agent_, place_;
};

}  // namespace

Result<std::unique_ptr<ObjectStore>> open_agent_share(const config::Values& values) {
  auto text = [&](std::string_view key) { return std::string(trim(value_of(values, key))); };
  return std::make_unique<AgentShare>(text("storage_agent_id"), text("storage_agent_share"),
                                      text("storage_agent_subpath"));
}

}  // namespace dash::storage::agent
