// W3C Trace Context (www.w3.org/TR/trace-context-1, version 00): which trace a request belongs to, and which of its
// spans this program is. The daemon reads and answers it, the client of other servers passes it on.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace dash {

struct TraceContext {
  std::string trace_id;  // 32 hexadecimal digits, lower case
  std::string span_id;   // 16, of this span
  bool is_sampled = false;
};

// Returns the context of a header's value; nullopt for one that the standard says to ignore: malformed, all zeros,
// version ff. Of a later version what version 00 has is read.
std::optional<TraceContext> parse_traceparent(std::string_view text);
// Returns "00-<trace_id>-<span_id>-<flags>".
std::string to_traceparent(const TraceContext& context);

// Returns a span of a new trace.
TraceContext begin_trace(bool is_sampled);
// Returns a new span in the trace of `parent`.
TraceContext begin_span(const TraceContext& parent);

// The span that this thread works for; null outside of a TraceScope.
const TraceContext* current_trace();

// Makes a context the thread's, until it ends. Scopes nest.
class TraceScope {
 public:
  explicit TraceScope(const TraceContext& context);
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;
  ~TraceScope();

 private:
  const TraceContext* before_;
};

}  // namespace dash
