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
  // Verifies the log. `checkpoint_file`, unless it is blank, is one more anchor besides the instance's own.
  // Over the API only the instance's own count, and the file is not read.
  virtual Result<OrderedJson> verify(const std::string& checkpoint_file) = 0;
  // Calls `line` with each entry as one line of JSON, oldest first.
  virtual Result<void> export_lines(const std::function<Result<void>(std::string_view)>& line) = 0;
  virtual Result<OrderedJson> prove_inclusion(std::int64_t seq) = 0;
  virtual Result<OrderedJson> prove_consistency(std::int64_t old_size) = 0;
};

std::unique_ptr<AuditClient> open_http_audit_client(net::ApiClient& api);
std::unique_ptr<AuditClient> open_local_audit_client(audit::Log& log, audit::AnchorSet& anchors,
                                                     Principal principal);

// Reads the checkpoints of a file, at most 256 MiB.
Result<audit::AnchorText> read_anchor_file(const std::string& path);

}  // namespace dash::client
