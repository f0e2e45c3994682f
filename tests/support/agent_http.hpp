// A dashboard of one agent in memory: answers requests by their last word and keeps what was sent, bodies of
// sources included.
#pragma once
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "core/agent/remote/identity.hpp"
#include "core/base/json.hpp"
#include "core/crypto/hash.hpp"
#include "core/net/http/http_client.hpp"
#include "tests/support/must.hpp"

namespace dash::agent {

class AgentHttp final : public net::HttpClient {
 public:
  struct Sent {
    std::string url;
    net::Headers headers;
    std::string body;
  };

  // The next request to a path that ends with this word gets it.
  void answer(const std::string& word, int status, std::string body = "{}", net::Headers headers = {}) {
    script_[word].push_back(net::HttpResponse{status, std::move(headers), std::move(body), 0});
  }
  void fail_with(const std::string& word, Code code) {
    script_[word].push_back(Result<net::HttpResponse>(fail(code, "scripted")));
  }

  Result<net::HttpResponse> send(const net::HttpRequest& request) override {
    std::string body(request.body_source_size, '\0');
    if (request.body_source) must(read_full(*request.body_source, body));
    auto word = request.url.substr(request.url.rfind('/') + 1);
    sent.push_back({request.url, request.headers, body});
    auto& answers = script_[word];
    if (answers.empty()) return fail(Code::unreachable, "nothing scripted for {}", word);
    auto next = answers.front();
    answers.pop_front();
    if (next && next->ok() && request.body_sink) TRY(request.body_sink->write(std::exchange(next->body, "")));
    return next;
  }

  std::vector<Sent> sent;

 private:
  std::map<std::string, std::deque<Result<net::HttpResponse>>> script_;
};

inline Identity test_identity() {
  Identity identity;
  identity.agent_id = "a-1";
  identity.key = crypto::ed25519_from_seed(Secret(std::string(32, 's')));
  identity.dashboard_public_key =
      crypto::to_base64(crypto::ed25519_from_seed(Secret(std::string(32, 'd'))).public_key);
  identity.audience = "https://dash.example.test";
  return identity;
}

}  // namespace dash::agent
