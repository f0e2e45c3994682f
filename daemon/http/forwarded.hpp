// The client's address behind a proxy. X-Forwarded-For is read from the right, one hop at a time, as long as
// the hop is a trusted proxy. Throttles and the audit log depend on it, so an address that a client wrote
// never counts.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "daemon/http/http.hpp"

namespace dash::daemon {

// Returns an address in one spelling (inet_ntop; v4-mapped v6 as v4); nullopt when it is not a literal
// address.
std::optional<std::string> canonical_address(std::string_view text);

class TrustedProxies {
 public:
  // Entries are literal addresses, or "unix". Code::usage names an entry that is neither.
  static Result<TrustedProxies> parse(const std::vector<std::string>& list);
  // `peer` is canonical or "unix".
  bool trusts(std::string_view peer) const;
  std::string client_of(std::string_view peer, const Headers& headers) const;

 private:
  std::vector<std::string> addresses_;
};

}  // namespace dash::daemon
