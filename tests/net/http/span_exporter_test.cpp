#include "core/net/http/span_exporter.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <mutex>

#include "core/base/json.hpp"
#include "tests/support/must.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::net {
namespace {

Span span_named(const std::string& name) {
  Span out;
  out.context = {"4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", true};
  out.name = name;
  out.began = Time(std::chrono::seconds(1'700'000'000));
  out.ended = out.began + std::chrono::milliseconds(5);
  out.attributes = {{"http.route", std::string("/x")}, {"http.response.status_code", std::int64_t{200}}};
  return out;
}

// Takes spans, and answers what it is told to.
class Collector final : public HttpClient {
 public:
  explicit Collector(int status = 200) : status_(status) {}
  Result<HttpResponse> send(const HttpRequest& request) override {
    std::lock_guard lock(mutex_);
    urls_.push_back(request.url);
    auto body = must(parse_json(request.body));
    for (const auto& span : body["resourceSpans"][0]["scopeSpans"][0]["spans"])
      names_.push_back(span["name"]);
    HttpResponse out;
    out.status = status_;
    return out;
  }
  std::size_t count() {
    std::lock_guard lock(mutex_);
    return names_.size();
  }
  std::vector<std::string> urls_, names_;

 private:
  const int status_;
  std::mutex mutex_;
};

TEST(Otlp, WritesSpansAsTheProtocolSays) {
  auto child = span_named("GET /x");
  child.parent_id = "b7ad6b7169203331";
  child.is_error = true;
  auto document = must(parse_json(to_otlp({child}, "mine")));
  const auto& resource = document["resourceSpans"][0];
  EXPECT_EQ(resource["resource"]["attributes"][0]["key"], "service.name");
  EXPECT_EQ(resource["resource"]["attributes"][0]["value"]["stringValue"], "mine");
  const auto& span = resource["scopeSpans"][0]["spans"][0];
  EXPECT_EQ(span["traceId"], "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(span["spanId"], "00f067aa0ba902b7");
  EXPECT_EQ(span["parentSpanId"], "b7ad6b7169203331");
  EXPECT_EQ(span["kind"], 2);
  EXPECT_EQ(span["startTimeUnixNano"], "1700000000000000000");
  EXPECT_EQ(span["endTimeUnixNano"], "1700000000005000000");
  EXPECT_EQ(span["attributes"][1]["value"]["intValue"], "200");
  EXPECT_EQ(span["status"]["code"], 2);
}

TEST(SpanExporterOptionsOf, AreOffUnlessNamed) {
  for (auto name : {"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}) ::unsetenv(name);
  EXPECT_EQ(must(span_exporter_options("")).url, "");
  EXPECT_EQ(must(span_exporter_options("http://127.0.0.1:4318/")).url, "http://127.0.0.1:4318/v1/traces");
  EXPECT_EQ(span_exporter_options("127.0.0.1:4318").error().code, Code::usage);
  ::setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318", 1);
  ::setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=k, tenant=t", 1);
  auto options = must(span_exporter_options(""));
  EXPECT_EQ(options.url, "http://collector:4318/v1/traces");
  EXPECT_EQ(options.headers.get("api-key"), "k");
  EXPECT_EQ(options.headers.get("tenant"), "t");
  ::setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://traces:1/take", 1);
  EXPECT_EQ(must(span_exporter_options("")).url, "http://traces:1/take");
  for (auto name :
       {"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS"})
    ::unsetenv(name);
}

TEST(SpanExport, SendsWhatWaitsSoonAndAtTheEnd) {
  Collector collector;
  {
    SpanExporter exporter(collector, {"http://c/v1/traces", {}, "dashctl"});
    exporter.add(span_named("first"));
    EXPECT_TRUE(wait_until([&] { return collector.count() == 1; }));
    exporter.add(span_named("last"));
  }
  EXPECT_EQ(collector.names_, (std::vector<std::string>{"first", "last"}));
  EXPECT_EQ(collector.urls_.at(0), "http://c/v1/traces");
}

TEST(SpanExport, KeepsTheNewestOfTooMany) {
  Collector collector;
  {
    SpanExporter exporter(collector, {"http://c/v1/traces", {}, "dashctl"});
    for (int i = 0; i < 20'000; ++i) exporter.add(span_named(std::to_string(i)));
  }
  EXPECT_LE(collector.count(), 20'000u);
  EXPECT_GE(collector.count(), 4'096u);
  EXPECT_EQ(collector.names_.back(), "19999");
}

TEST(SpanExport, EndsWhenTheCollectorRefuses) {
  Collector collector(503);
  SpanExporter exporter(collector, {"http://c/v1/traces", {}, "dashctl"});
  for (int i = 0; i < 2'000; ++i) exporter.add(span_named("x"));
}

}  // namespace
}  // namespace dash::net
