#include "core/net/http/span_exporter.hpp"

#include <cstdlib>
#include <utility>

#include "core/base/json.hpp"
#include "core/base/log.hpp"
#include "core/base/text.hpp"

namespace dash::net {
namespace {

constexpr std::size_t kMaxWaiting = 4'096, kMaxBatch = 512;
constexpr std::chrono::seconds kFlushDelay{1};
constexpr std::chrono::seconds kTimeout{5};
constexpr int kServerSpan = 2, kErrorStatus = 2;  // of SpanKind and StatusCode

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

// "name=value,name=value", as OTEL_EXPORTER_OTLP_HEADERS is written.
Headers parse_headers(std::string_view text) {
  Headers out;
  while (!text.empty()) {
    auto pair = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    auto equals = pair.find('=');
    if (equals != pair.npos)
      out.add(std::string(trim(pair.substr(0, equals))), std::string(trim(pair.substr(equals + 1))));
  }
  return out;
}

std::string traces_of(std::string endpoint) {
  while (endpoint.ends_with('/')) endpoint.pop_back();
  return endpoint.empty() ? endpoint : endpoint + "/v1/traces";
}

// Whole numbers of 64 bits are text in JSON, as protobuf writes them.
OrderedJson attribute(const std::string& key, const std::variant<std::string, std::int64_t>& value) {
  OrderedJson typed;
  if (const auto* text = std::get_if<std::string>(&value))
    typed = {{"stringValue", *text}};
  else
    typed = {{"intValue", std::to_string(std::get<std::int64_t>(value))}};
  return {{"key", key}, {"value", typed}};
}

std::string nanoseconds(Time time) {
  return std::to_string(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

OrderedJson to_otlp(const Span& span) {
  OrderedJson out{{"traceId", span.context.trace_id}, {"spanId", span.context.span_id}};
  if (!span.parent_id.empty()) out["parentSpanId"] = span.parent_id;
  out["name"] = span.name;
  out["kind"] = kServerSpan;
  out["startTimeUnixNano"] = nanoseconds(span.began);
  out["endTimeUnixNano"] = nanoseconds(span.ended);
  out["attributes"] = OrderedJson::array();
  for (const auto& [key, value] : span.attributes) out["attributes"].push_back(attribute(key, value));
  out["status"] = OrderedJson::object();
  if (span.is_error) out["status"]["code"] = kErrorStatus;
  return out;
}

}  // namespace

Result<SpanExporterOptions> span_exporter_options(const std::string& endpoint) {
  SpanExporterOptions out;
  out.url = traces_of(endpoint);
  if (out.url.empty()) out.url = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  if (out.url.empty()) out.url = traces_of(variable("OTEL_EXPORTER_OTLP_ENDPOINT"));
  if (!out.url.empty() && !out.url.starts_with("http://") && !out.url.starts_with("https://"))
    return fail(Code::usage, "the collector of traces is an address that starts with http:// or https://");
  out.headers = parse_headers(variable("OTEL_EXPORTER_OTLP_HEADERS"));
  if (auto name = variable("OTEL_SERVICE_NAME"); !name.empty()) out.service = name;
  return out;
}

std::string to_otlp(const std::vector<Span>& spans, std::string_view service) {
  auto list = OrderedJson::array();
  for (const auto& span : spans) list.push_back(to_otlp(span));
  OrderedJson scope{{"scope", {{"name", "dashctl"}, {"version", DASH_VERSION}}}, {"spans", std::move(list)}};
  OrderedJson resource{
      {"attributes", OrderedJson::array({attribute("service.name", std::string(service)),
                                         attribute("service.version", std::string(DASH_VERSION))})}};
  OrderedJson of_resource{{"resource", std::move(resource)},
                          {"scopeSpans", OrderedJson::array({std::move(scope)})}};
  return dump_json(OrderedJson{{"resourceSpans", OrderedJson::array({std::move(of_resource)})}});
}

SpanExporter::SpanExporter(HttpClient& http, SpanExporterOptions options)
    : http_(http),
      options_(std::move(options)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

SpanExporter::~SpanExporter() {
  thread_.request_stop();
  added_.notify_all();
}

void SpanExporter::add(Span span) {
  std::lock_guard lock(mutex_);
  if (waiting_.size() >= kMaxWaiting) waiting_.pop_front(), ++dropped_;
  waiting_.push_back(std::move(span));
  if (waiting_.size() == 1) added_.notify_all();
}

void SpanExporter::run(const std::stop_token& stop) {
  while (true) {
    std::vector<Span> batch;
    std::uint64_t dropped = 0;
    {
      std::unique_lock lock(mutex_);
      added_.wait(lock, stop, [this] { return !waiting_.empty(); });
      added_.wait_for(lock, stop, kFlushDelay, [this] { return waiting_.size() >= kMaxBatch; });
      for (; !waiting_.empty() && batch.size() < kMaxBatch; waiting_.pop_front())
        batch.push_back(std::move(waiting_.front()));
      dropped = std::exchange(dropped_, 0);
    }
    if (dropped > 0) log::warning("traces.dropped", {{"spans", dropped}});
    if (batch.empty()) return;
    send(batch);
    if (stop.stop_requested() && is_failing_) return;
  }
}

// A collector that is away is named once, until it takes spans again.
void SpanExporter::send(const std::vector<Span>& spans) {
  HttpRequest request;
  request.method = "POST";
  request.url = options_.url;
  request.headers = options_.headers;
  request.headers.add("Content-Type", "application/json");
  auto body = to_otlp(spans, options_.service);
  request.body = body;
  request.connect_timeout = request.timeout = kTimeout;
  auto answer = http_.send(request);
  bool has_failed = !answer || !answer->ok();
  if (has_failed && !is_failing_)
    log::warning("traces.not_taken",
                 {{"cause", answer ? fmt::format("status {}", answer->status) : answer.error().message}});
  is_failing_ = has_failed;
}

}  // namespace dash::net
