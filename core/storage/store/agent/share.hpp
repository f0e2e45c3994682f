// A share that a remote agent reaches, as this module needs it. The module `agent` implements it, and app
// brings the two together. Every operation is a job of the agent: it waits for that job, 90 s at most.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"

namespace dash::storage::agent {

// Which share, by the settings storage_agent_*. Blank where one is not set.
struct ShareSettings {
  std::string agent;    // the agent's id
  std::string share;    // the name that the agent's own file gives a path
  std::string subpath;  // a folder beneath it
  bool has_password = false;
};

struct ShareFile {
  std::string name;
  std::uint64_t size = 0;
  std::string etag{};  // empty: the agent has none
};

// The bytes of one read, and the file that they are of.
struct ShareRead {
  ShareFile file;
  std::string bytes;
};

// Thread-safe. Every error names its cause; Code::upstream for what the dashboard refuses to queue and for
// what the agent refused or could not do, Code::not_found for an absent file.
class AgentShare {
 public:
  virtual ~AgentShare() = default;

  // Returns the files by name. The listing may be 2 minutes old, but is never older than a write() or remove()
  // of this instance that has returned.
  virtual Result<std::vector<ShareFile>> list() = 0;
  // The next list() asks the agent.
  virtual Result<void> forget_listing() = 0;
  virtual Result<ShareFile> head(const std::string& name) = 0;
  // Returns at most `size` bytes from `offset` on; fewer at the file's end, and where the agent sends fewer at
  // once. Code::too_large when the agent cannot send the file.
  virtual Result<ShareRead> read(const std::string& name, std::uint64_t offset, std::uint64_t size) = 0;
  virtual Result<ShareFile> write(const std::string& name, std::string_view bytes) = 0;
  virtual Result<void> remove(const std::string& name) = 0;
};

}  // namespace dash::storage::agent
