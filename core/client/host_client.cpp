#include "core/client/host_client.hpp"

#include "core/client/array_document.hpp"

namespace dash::client {
namespace {

constexpr std::string_view kHosts = "/api/hosts";

std::string host_path(const std::string& name) {
  return fmt::format("{}/{}", kHosts, net::percent_encode(name));
}

class HttpHostClient final : public HostClient {
 public:
  explicit HttpHostClient(net::ApiClient& api) : api_(api) {}

  Result<OrderedJson> list() override {
    auto answer = TRY(api_.get(kHosts));
    if (!answer.is_object() || !answer.contains("hosts")) return api_.unexpected_response(kHosts);
    return OrderedJson(answer["hosts"]);
  }
  Result<OrderedJson> get(const std::string& name) override {
    return checked(TRY(api_.get(host_path(name))), "name");
  }
  Result<OrderedJson> add(const Json& host) override { return checked(TRY(api_.post(kHosts, host)), "name"); }
  Result<OrderedJson> change(const std::string& name, const Json& members) override {
    return checked(TRY(api_.patch(host_path(name), members)), "name");
  }
  Result<void> remove(const std::string& name) override {
    TRY(checked(TRY(api_.remove(host_path(name))), "ok"));
    return {};
  }
  Result<OrderedJson> test(const std::string& name, bool accept_new_key) override {
    return checked(TRY(api_.post(host_path(name) + "/test", {{"accept_new_key", accept_new_key}})), "ok");
  }

 private:
  Result<OrderedJson> checked(const Json& answer, const char* member) const {
    if (!answer.is_object() || !answer.contains(member)) return api_.unexpected_response(kHosts);
    return OrderedJson(answer);
  }
  net::ApiClient& api_;
};

class LocalHostClient final : public HostClient {
 public:
  LocalHostClient(automation::Hosts& hosts, Principal principal)
      : hosts_(hosts), principal_(std::move(principal)) {}

  Result<OrderedJson> list() override { return array_of(TRY(hosts_.list(principal_))); }
  Result<OrderedJson> get(const std::string& name) override {
    return automation::to_json(TRY(hosts_.get(principal_, name)));
  }
  Result<OrderedJson> add(const Json& host) override {
    return automation::to_json(TRY(hosts_.add(principal_, host)));
  }
  Result<OrderedJson> change(const std::string& name, const Json& members) override {
    return automation::to_json(TRY(hosts_.change(principal_, name, members)));
  }
  Result<void> remove(const std::string& name) override { return hosts_.remove(principal_, name); }
  Result<OrderedJson> test(const std::string& name, bool accept_new_key) override {
    return automation::to_json(TRY(hosts_.test(principal_, name, accept_new_key)));
  }

 private:
  automation::Hosts& hosts_;
  const Principal principal_;
};

}  // namespace

std::unique_ptr<HostClient> open_http_host_client(net::ApiClient& api) {
  return std::make_unique<HttpHostClient>(api);
}
std::unique_ptr<HostClient> open_local_host_client(automation::Hosts& hosts, Principal principal) {
  return std::make_unique<LocalHostClient>(hosts, std::move(principal));
}

}  // namespace dash::client
