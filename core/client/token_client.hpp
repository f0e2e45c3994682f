// The personal access tokens of an instance, over its API or its data folder. Documents are those of
// /api/tokens.
#pragma once
#include <memory>
#include <string>

#include "core/identity/accounts.hpp"
#include "core/net/http/api_client.hpp"

namespace dash::client {

class TokenClient {
 public:
  virtual ~TokenClient() = default;
  // Returns a document with the token itself, this once. A blank `username` is the signed-in account; on a
  // data folder, which has none, it is Code::usage.
  virtual Result<OrderedJson> issue(const identity::NewToken& token) = 0;
  // Returns an array. Blank: the caller's own; on a data folder all.
  virtual Result<OrderedJson> list(const std::string& username) = 0;
  virtual Result<void> revoke(const std::string& id) = 0;
};

std::unique_ptr<TokenClient> open_http_token_client(net::ApiClient& api);
std::unique_ptr<TokenClient> open_local_token_client(identity::Accounts& accounts, Principal principal);

}  // namespace dash::client
