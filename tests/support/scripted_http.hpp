// An HTTP client that answers from a script, in order, and records the requests. For what no real server does
// on demand: errors behind 200, throttling, cut bodies.
#pragma once
#include <cstring>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/net/http/http_client.hpp"

namespace dash::net {

struct SentRequest {
  std::string method;
  std::string url;
  Headers headers;
  std::string body;
  std::optional<HttpLogin> login = {};
};

class ScriptedHttp final : public HttpClient {
 public:
  void answer(int status, std::string body = "", Headers headers = {}) {
    script_.push_back(HttpResponse{status, std::move(headers), std::move(body), 0});
  }
  void fail_with(Code code) { script_.push_back(Result<HttpResponse>(fail(code, "scripted"))); }

  Result<HttpResponse> send(const HttpRequest& request) override {
    std::lock_guard lock(mutex_);
    requests.push_back(
        {request.method, request.url, request.headers, std::string(request.body), request.login});
    if (script_.empty())
      throw std::runtime_error("nothing scripted for " + request.method + " " + request.url);
    auto next = std::move(script_.front());
    script_.pop_front();
    if (!next || !next->ok()) return next;
    next->body_size = next->body.size();
    if (request.body_sink) TRY(request.body_sink->write(std::exchange(next->body, "")));
    return next;
  }

  std::vector<SentRequest> requests;

 private:
  std::mutex mutex_;
  std::deque<Result<HttpResponse>> script_;
};

}  // namespace dash::net
