// The agent's requests to its dashboard: signed, each with a nonce of its own, also when it is sent again. Every
// answer is bounded and no redirect is followed. Thread-safe.
#pragma once
#include <chrono>
#include <string>
#include <string_view>

#include "core/agent/protocol/documents.hpp"
#include "core/agent/remote/identity.hpp"
#include "core/base/clock.hpp"
#include "core/crypto/x25519.hpp"
#include "core/net/http/http_client.hpp"

namespace dash::agent {

// The level of the protocol that this agent speaks; its own version stands in User-Agent.
inline constexpr std::string_view kAgentVersion = "2.7.0";
inline constexpr std::size_t kMaxAnswerBytes = 1u << 20;
inline constexpr std::chrono::seconds kAnswerTimeout{30};  // beside what a lease waits on purpose

// Checks an address of a dashboard: https, or http to this machine, since everything else would send secrets and
// jobs where anybody can change them. Returns it without a slash at its end. Code::usage.
Result<std::string> check_dashboard_url(std::string_view url);

struct DashboardAddress {
  std::string url;
  net::Trust trust{};
};

class DashboardClient {
 public:
  DashboardClient(net::HttpClient& http, const Clock& clock, const Identity& identity,
                  DashboardAddress address)
      : http_(http), clock_(clock), identity_(identity), address_(std::move(address)) {}

  const Identity& identity() const { return identity_; }

  // The answer, whatever its status: lease_answer.hpp reads it.
  Result<net::HttpResponse> lease(const LeaseRequest& request);
  Result<net::HttpResponse> heartbeat(const std::string& job, const Heartbeat& heartbeat);
  Result<net::HttpResponse> logs(const std::string& job, const LogLines& log);
  Result<net::HttpResponse> complete(const std::string& job, const Completion& completion);
  // Asks for a secret of the running job, sealed to a reply key made for this request. `ref` is the share or the
  // host. A refusal has the dashboard's text.
  Result<Secret> secret(const std::string& job, const std::string& ref);
  // Streams the asset of an automation job; the caller checks size and digest.
  Result<void> asset(const std::string& job, Sink& into);

 private:
  Result<net::HttpResponse> post(const std::string& path, std::string_view body, std::chrono::seconds timeout,
                                 Sink* sink = nullptr);
  Result<net::HttpResponse> post_job(const std::string& job, std::string_view what, std::string_view body);
  net::HttpClient& http_;
  const Clock& clock_;
  const Identity& identity_;
  const DashboardAddress address_;
};

// Spends the code: a new key, and the identity that the dashboard answers. An unclear end (no answer) says that
// the code may be spent. The code's refusal has the dashboard's text.
Result<Identity> enrol(net::HttpClient& http, const DashboardAddress& address, const Secret& code,
                       const std::string& policy_hash);

// Returns the sentence of an answer {"detail": …}, or its status.
std::string answer_text(const net::HttpResponse& response);

}  // namespace dash::agent
