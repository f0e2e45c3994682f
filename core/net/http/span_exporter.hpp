// Sends spans to a collector of traces: OTLP/HTTP with JSON (opentelemetry.io/docs/specs/otlp, version 1.5). Off
// unless an endpoint is named. Spans wait in memory for a second at most and are sent by one thread; a request
// never waits for the collector, and what it does not take in time is dropped and counted in the log. Thread-safe.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <variant>

#include "core/base/clock.hpp"
#include "core/base/trace.hpp"
#include "core/net/http/http_client.hpp"

namespace dash::net {

struct Span {
  TraceContext context;
  std::string parent_id;  // empty: the first of its trace
  std::string name;       // "GET /api/jobs/{id}"
  Time began, ended;
  std::vector<std::pair<std::string, std::variant<std::string, std::int64_t>>> attributes;
  bool is_error = false;
};

struct SpanExporterOptions {
  std::string url;  // of the collector's traces, such as http://127.0.0.1:4318/v1/traces; empty: none
  Headers headers;
  std::string service = "dashctl";
};

// Returns `endpoint` + /v1/traces; when that is empty, what OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, else
// OTEL_EXPORTER_OTLP_ENDPOINT names, with OTEL_EXPORTER_OTLP_HEADERS and OTEL_SERVICE_NAME. Code::usage for an
// address that is neither http:// nor https://.
Result<SpanExporterOptions> span_exporter_options(const std::string& endpoint);

// Returns the body of an export request.
std::string to_otlp(const std::vector<Span>& spans, std::string_view service);

class SpanExporter {
 public:
  // `http` must outlive it.
  SpanExporter(HttpClient& http, SpanExporterOptions options);
  SpanExporter(const SpanExporter&) = delete;
  SpanExporter& operator=(const SpanExporter&) = delete;
  // Sends what waits.
  ~SpanExporter();
  void add(Span span);

 private:
  void run(const std::stop_token& stop);
  void send(const std::vector<Span>& spans);

  HttpClient& http_;
  const SpanExporterOptions options_;
  std::mutex mutex_;
  std::condition_variable_any added_;
  std::deque<Span> waiting_;
  std::uint64_t dropped_ = 0;
  bool is_failing_ = false;  // of the thread alone
  std::jthread thread_;      // last: stopped before the other members are destroyed
};

}  // namespace dash::net
