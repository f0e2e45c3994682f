// What the rooms of the clouds share about their server: where it is, whom TLS trusts, and what to tell a
// person when it refuses to believe us.
#pragma once
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/config/encrypted_store.hpp"
#include "core/net/http/http_client.hpp"

namespace dash::storage {

struct Endpoint {
  std::string url;  // scheme://host[:port][/path], no slash at the end; host in lower case
  net::Trust trust;

  std::string_view scheme() const;
  // With the port, unless it is the scheme's own: what the Host header says, which signatures cover.
  std::string_view host() const;
  // From the first slash after the host; "" when there is none.
  std::string_view path() const;
};

// From storage_<backend>_endpoint and storage_<backend>_ca_file; `default_url` stands in for an empty endpoint,
// https for a missing scheme. Code::invalid names the setting that is no http(s) address.
Result<Endpoint> read_endpoint(const config::Values& values, std::string_view backend,
                               std::string_view default_url);

// A sentence to add when a store refuses credentials and its Date is far from our clock: signatures and
// tokens carry the time. "" otherwise.
std::string clock_note(const net::Headers& headers, Time now);
// Code::upstream when the store's Date is as far from our clock: how old something is cannot be told then,
// and a sweep would drop what is in use.
Result<void> check_clock_skew(const net::Headers& headers, Time now);

}  // namespace dash::storage
