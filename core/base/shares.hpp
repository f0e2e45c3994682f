// Counts how much of a shared resource each user and each network holds, and limits each of them. A blank
// name is the server's own work and is not counted. Not thread-safe: the owner's lock guards it.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>

namespace dash {

// The holder of something: a user, and the network of its address (network_of() in address.hpp).
struct Holder {
  std::string user;
  std::string network;
};

struct ShareLimits {
  std::uint64_t per_user = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t per_network = std::numeric_limits<std::uint64_t>::max();
};

class Shares {
 public:
  explicit Shares(ShareLimits limits = {}) : limits_(limits) {}
  bool fits(const Holder& holder, std::uint64_t amount) const {
    return remaining(users_, holder.user, limits_.per_user) >= amount &&
           remaining(networks_, holder.network, limits_.per_network) >= amount;
  }
  void add(const Holder& holder, std::uint64_t amount) {
    if (!holder.user.empty()) users_[holder.user] += amount;
    if (!holder.network.empty()) networks_[holder.network] += amount;
  }
  void remove(const Holder& holder, std::uint64_t amount) {
    subtract(users_, holder.user, amount);
    subtract(networks_, holder.network, amount);
  }

 private:
  using Amounts = std::unordered_map<std::string, std::uint64_t>;
  static std::uint64_t remaining(const Amounts& held, const std::string& name, std::uint64_t limit) {
    auto it = held.find(name);
    auto used = it == held.end() ? 0 : it->second;
    return used < limit ? limit - used : 0;
  }
  static void subtract(Amounts& held, const std::string& name, std::uint64_t amount) {
    auto it = held.find(name);
    if (it == held.end()) return;
    it->second -= amount;
    if (it->second == 0) held.erase(it);
  }
  const ShareLimits limits_;
  Amounts users_, networks_;
};

}  // namespace dash
