// What an agent reads from whoever answers it: any text is no job or one that is signed by the pinned key (which no
// input here is), and the canonical form of any value is ASCII that reads back as the same value.
#include <cstdint>
#include <string>
#include <string_view>

#include "core/agent/protocol/automation_job.hpp"
#include "core/agent/protocol/canonical_json.hpp"
#include "core/agent/protocol/storage_job.hpp"
#include "core/agent/remote/lease_answer.hpp"
#include "core/crypto/hash.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dash;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  agent::Identity identity;
  identity.agent_id = "a-1";
  identity.audience = "https://dash.example.test";
  identity.dashboard_public_key = crypto::to_base64(std::string(32, 'd'));
  net::HttpResponse response{200, {}, std::string(text), 0};
  auto answer = agent::read_lease_answer(response, identity, std::chrono::seconds(5), Time{});
  if (answer.kind == agent::LeaseAnswer::Kind::job) __builtin_trap();
  auto json = parse_json(text);
  if (!json) return 0;
  auto canonical = agent::canonical_json(*json);
  for (char c : canonical)
    if (c < 0x20 || c > 0x7e) __builtin_trap();
  auto again = parse_json(canonical);
  if (!again || agent::canonical_json(*again) != canonical) __builtin_trap();
  // What is taken has no way out of its share.
  if (auto job = agent::read_storage_job(*json); job && job->name.find('/') != std::string::npos)
    __builtin_trap();
  if (auto job = agent::read_storage_job(*json); job && job->subpath.find("..") == 0) __builtin_trap();
  if (auto job = agent::read_automation_job(*json); job && job->hosts.empty()) __builtin_trap();
  return 0;
}
