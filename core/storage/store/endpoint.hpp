// What the four clouds share about their server: its address, the trust of TLS, and the explanation when it
// refuses credentials because of a clock.
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
  // Returns the host, with the port unless it is the scheme's own: the value of the Host header, which
  // signatures cover.
  std::string_view host() const;
  // Returns the path from the first slash after the host; "" when there is none.
  std::string_view path() const;
};

// Reads storage_<backend>_endpoint and storage_<backend>_ca_file. An empty endpoint becomes `default_url`, a
// missing scheme https. Code::invalid names the setting that is no http(s) address.
Result<Endpoint> read_endpoint(const config::Values& values, std::string_view backend,
                               std::string_view default_url);

// Returns a sentence to add when a store refuses credentials and its Date is far from our clock, because
// signatures and tokens contain the time. "" otherwise.
std::string clock_note(const net::Headers& headers, Time now);
// Code::upstream when the store's Date is that far from our clock: the age of an upload is then unknown, and
// a sweep would drop uploads in use.
Result<void> check_clock_skew(const net::Headers& headers, Time now);

}  // namespace dash::storage
