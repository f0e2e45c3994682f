// How much of a common good each user and each network holds, and the most that one may have. A blank name is
// not counted: that is the server's own work. Not thread-safe: its owner's lock guards it.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>

namespace dash {

// Who holds something: a user, and the network from which he calls (network_of() in address.hpp).
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
  explicit Shares(ShareLimits most = {}) : most_(most) {}
  bool fits(const Holder& holder, std::uint64_t amount) const {
    return left(users_, holder.user, most_.per_user) >= amount &&
           left(networks_, holder.network, most_.per_network) >= amount;
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
  static std::uint64_t left(const Amounts& held, const std::string& name, std::uint64_t most) {
    auto at = held.find(name);
    auto has = at == held.end() ? 0 : at->second;
    return has < most ? most - has : 0;
  }
  static void subtract(Amounts& held, const std::string& name, std::uint64_t amount) {
    auto at = held.find(name);
    if (at == held.end()) return;
    at->second -= amount;
    if (at->second == 0) held.erase(at);
  }
  const ShareLimits most_;
  Amounts users_, networks_;
};

}  // namespace dash
