// The audit log of an instance, over its API or its data folder. Documents are those of /api/audit/verify and
// /api/audit/prove.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/audit/anchor.hpp"
#include "core/net/http/api_client.hpp"

namespace dash::client {

class AuditClient {
 public:
  virtual ~AuditClient() = default;
  // `checkpoint_file`, where it is not blank, is one more anchor beside the instance's own; over the API those
  // are all, and it is not read.
  virtual Result<OrderedJson> verify(const std::string& checkpoint_file) = 0;
  // All entries, oldest first, each as one line of JSON.
  virtual Result<void> export_lines(const std::function<Result<void>(std::string_view)>& line) = 0;
  virtual Result<OrderedJson> prove_inclusion(std::int64_t seq) = 0;
  virtual Result<OrderedJson> prove_consistency(std::int64_t old_size) = 0;
};

std::unique_ptr<AuditClient> open_http_audit_client(net::ApiClient& api);
std::unique_ptr<AuditClient> open_local_audit_client(audit::Log& log, audit::AnchorSet& anchors,
                                                     Principal principal);

// The checkpoints in a file, at most 256 MiB of them.
Result<audit::AnchorText> read_anchor_file(const std::string& path);

}  // namespace dash::client
