// A remote agent's share in memory, for tests of what is above it. It sends `range_bytes` at once, as an agent
// that reads ranges does, and fails on request.
#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "core/crypto/hash.hpp"
#include "core/storage/store/agent/share.hpp"

namespace dash::storage::agent {

// What the tests keep while stores come and go.
struct MemoryShareState {
  std::map<std::string, std::string> files;
  std::size_t range_bytes = 128u << 10;
  std::optional<Error> failure;            // of every operation
  std::map<std::string, int> calls;        // by operation
  std::function<void()> before_next_read;  // once
};

class MemoryShare final : public AgentShare {
 public:
  explicit MemoryShare(std::shared_ptr<MemoryShareState> state) : state_(std::move(state)) {}

  Result<std::vector<ShareFile>> list() override {
    TRY(count("list"));
    std::vector<ShareFile> out;
    for (const auto& [name, bytes] : state_->files) out.push_back(describe(name, bytes));
    return out;
  }
  Result<void> forget_listing() override { return count("forget"); }
  Result<ShareFile> head(const std::string& name) override {
    TRY(count("head"));
    auto it = state_->files.find(name);
    if (it == state_->files.end()) return fail(Code::not_found, "the share has no file '{}'", name);
    return describe(name, it->second);
  }
  Result<ShareRead> read(const std::string& name, std::uint64_t offset, std::uint64_t size) override {
    if (state_->before_next_read) std::exchange(state_->before_next_read, nullptr)();
    auto file = TRY(head(name));
    const auto& bytes = state_->files.at(name);
    auto from = static_cast<std::size_t>(std::min<std::uint64_t>(offset, bytes.size()));
    auto most = static_cast<std::size_t>(std::min<std::uint64_t>(size, state_->range_bytes));
    return ShareRead{std::move(file), bytes.substr(from, most)};
  }
  Result<ShareFile> write(const std::string& name, std::string_view bytes) override {
    TRY(count("write"));
    state_->files[name] = std::string(bytes);
    return describe(name, bytes);
  }
  Result<void> remove(const std::string& name) override {
    TRY(count("remove"));
    if (state_->files.erase(name) == 0) return fail(Code::not_found, "the share has no file '{}'", name);
    return {};
  }

 private:
  static ShareFile describe(const std::string& name, std::string_view bytes) {
    return {name, bytes.size(), crypto::to_hex(crypto::sha256(bytes))};
  }
  Result<void> count(const char* operation) {
    ++state_->calls[operation];
    if (state_->failure) return Failure(*state_->failure);
    return {};
  }
  std::shared_ptr<MemoryShareState> state_;
};

}  // namespace dash::storage::agent
