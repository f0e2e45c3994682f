#include "core/client/audit_client.hpp"

#include "core/audit/prove.hpp"
#include "core/audit/read.hpp"
#include "core/audit/verify.hpp"
#include "core/base/file.hpp"
#include "core/base/text.hpp"

namespace dash::client {
namespace {

constexpr std::size_t kMaxCheckpointFile = 256u << 20;

class HttpAuditClient final : public AuditClient {
 public:
  explicit HttpAuditClient(net::ApiClient& api) : api_(api) {}

  Result<OrderedJson> verify(const std::string&) override {
    return OrderedJson(TRY(api_.get("/api/audit/verify")));
  }
  Result<void> export_lines(const std::function<Result<void>(std::string_view)>& line) override {
    for (std::int64_t after = 0;;) {
      auto page = TRY(api_.get(fmt::format("/api/audit?after={}&limit={}", after, audit::kMaxPageEntries)));
      for (const auto& entry : page.at("entries")) {
        // Parsed again, so that the members have the order of a local export.
        auto stored = TRY(audit::entry_from_json(entry));
        TRY(line(audit::export_line(stored)));
        after = stored.seq;
      }
      if (page.at("next_after").is_null()) return {};
    }
  }
  Result<OrderedJson> prove_inclusion(std::int64_t seq) override { return prove(fmt::format("seq={}", seq)); }
  Result<OrderedJson> prove_consistency(std::int64_t old_size) override {
    return prove(fmt::format("from={}", old_size));
  }

 private:
  Result<OrderedJson> prove(const std::string& query) {
    auto proof = TRY(api_.get("/api/audit/prove?" + query));
    if (!proof.contains("checkpoint")) return api_.unexpected_response("/api/audit/prove");
    return OrderedJson(proof);
  }

  net::ApiClient& api_;
};

class LocalAuditClient final : public AuditClient {
 public:
  LocalAuditClient(audit::Log& log, audit::AnchorSet& anchors, Principal principal)
      : log_(log), anchors_(anchors), principal_(std::move(principal)) {}

  Result<OrderedJson> verify(const std::string& checkpoint_file) override {
    auto anchors = anchors_.read();
    if (!checkpoint_file.empty()) anchors.push_back(TRY(read_anchor_file(checkpoint_file)));
    return audit::to_json(TRY(audit::verify(log_, anchors)));
  }
  Result<void> export_lines(const std::function<Result<void>(std::string_view)>& line) override {
    return audit::export_lines(log_, principal_, line);
  }
  Result<OrderedJson> prove_inclusion(std::int64_t seq) override {
    return audit::to_json(TRY(audit::prove_inclusion(log_, seq)), public_key());
  }
  Result<OrderedJson> prove_consistency(std::int64_t old_size) override {
    return audit::to_json(TRY(audit::prove_consistency(log_, old_size)), public_key());
  }

 private:
  const std::string& public_key() const { return log_.keys().checkpoint.public_key; }

  audit::Log& log_;
  audit::AnchorSet& anchors_;
  const Principal principal_;
};

}  // namespace

Result<audit::AnchorText> read_anchor_file(const std::string& path) {
  auto text = TRY(read_file(path, kMaxCheckpointFile));
  if (trim(text).empty()) return fail(Code::integrity, "{} holds no checkpoint", path);
  return audit::AnchorText{path, std::move(text)};
}

std::unique_ptr<AuditClient> open_http_audit_client(net::ApiClient& api) {
  return std::make_unique<HttpAuditClient>(api);
}
std::unique_ptr<AuditClient> open_local_audit_client(audit::Log& log, audit::AnchorSet& anchors,
                                                     Principal principal) {
  return std::make_unique<LocalAuditClient>(log, anchors, std::move(principal));
}

}  // namespace dash::client
