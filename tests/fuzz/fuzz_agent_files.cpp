// Policy and shares files: any text is read, or refused with file and line. What is read never allows this machine
// by a network, and never a share without a name.
#include <cstdint>
#include <string_view>

#include "core/agent/remote/policy.hpp"
#include "core/agent/remote/shares.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dash;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto policy = agent::read_policy(text, "f.yaml");
  if (!policy && !policy.error().message.starts_with("f.yaml:")) __builtin_trap();
  if (policy && policy->targets.empty()) __builtin_trap();
  if (policy)
    for (const auto& share : policy->shares)
      if (!agent::check_share(share.name)) __builtin_trap();
  auto shares = agent::read_shares(text, "f.yaml");
  if (!shares && !shares.error().message.starts_with("f.yaml:")) __builtin_trap();
  if (!shares) return 0;
  for (const auto& share : shares->shares)
    if (share.path.empty() || (share.has_dashboard_secret && !share.password.empty())) __builtin_trap();
  return 0;
}
