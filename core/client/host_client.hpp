// The kept hosts of an instance, over its API or its data folder. Documents are those of /api/hosts.
#pragma once
#include <memory>
#include <string>

#include "core/automation/hosts.hpp"
#include "core/net/http/api_client.hpp"

namespace dash::client {

class HostClient {
 public:
  virtual ~HostClient() = default;
  virtual Result<OrderedJson> list() = 0;  // an array
  virtual Result<OrderedJson> get(const std::string& name) = 0;
  virtual Result<OrderedJson> add(const Json& host) = 0;
  virtual Result<OrderedJson> change(const std::string& name, const Json& members) = 0;
  virtual Result<void> remove(const std::string& name) = 0;
  // {ok, fingerprint, pinned, logged_in, reason, error}
  virtual Result<OrderedJson> test(const std::string& name, bool accept_new_key) = 0;
};

std::unique_ptr<HostClient> open_http_host_client(net::ApiClient& api);
std::unique_ptr<HostClient> open_local_host_client(automation::Hosts& hosts, Principal principal);

}  // namespace dash::client
