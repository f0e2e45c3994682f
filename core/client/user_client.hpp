// The accounts of an instance, over its API or its data folder. Documents are those of GET and POST
// /api/users.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "core/identity/accounts.hpp"
#include "core/net/http/api_client.hpp"

namespace dash::client {

class UserClient {
 public:
  virtual ~UserClient() = default;
  virtual Result<OrderedJson> add(const identity::NewUser& user) = 0;
  virtual Result<OrderedJson> change(const std::string& name, const identity::UserChange& change) = 0;
  virtual Result<OrderedJson> list() = 0;  // an array
  // Returns the signed-in account, folded; nullopt for the operator on a data folder.
  virtual Result<std::optional<std::string>> signed_in_name() = 0;
};

std::unique_ptr<UserClient> open_http_user_client(net::ApiClient& api);
std::unique_ptr<UserClient> open_local_user_client(identity::Accounts& accounts, Principal principal);

}  // namespace dash::client
