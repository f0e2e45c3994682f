#include "core/base/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace dash {
namespace {

constexpr std::size_t kTraceDigits = 32, kSpanDigits = 16, kTraceparent = 55;

thread_local const TraceContext* thread_trace = nullptr;

bool is_hex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_zero(std::string_view text) { return text.find_first_not_of('0') == text.npos; }

// Ids only tell spans apart and protect nothing, so they need not be unguessable.
std::string random_digits(std::size_t count) {
  thread_local std::mt19937_64 source{std::random_device{}()};
  std::string out;
  while (out.size() < count) out += fmt::format("{:016x}", source() | 1);
  return out;
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view text) {
  if (text.size() < kTraceparent || text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
  auto version = text.substr(0, 2), trace_id = text.substr(3, kTraceDigits),
       span_id = text.substr(36, kSpanDigits), flags = text.substr(53, 2);
  for (auto part : {version, trace_id, span_id, flags})
    if (!is_hex(part)) return std::nullopt;
  bool is_longer = text.size() > kTraceparent;
  if (version == "ff" || (version == "00" && is_longer) || (is_longer && text[kTraceparent] != '-'))
    return std::nullopt;
  if (is_zero(trace_id) || is_zero(span_id)) return std::nullopt;
  bool is_sampled = (flags[1] >= 'a' ? flags[1] - 'a' + 10 : flags[1] - '0') & 1;
  return TraceContext{std::string(trace_id), std::string(span_id), is_sampled};
}

std::string to_traceparent(const TraceContext& context) {
  return fmt::format("00-{}-{}-{}", context.trace_id, context.span_id, context.is_sampled ? "01" : "00");
}

TraceContext begin_trace(bool is_sampled) {
  return {random_digits(kTraceDigits), random_digits(kSpanDigits), is_sampled};
}

TraceContext begin_span(const TraceContext& parent) {
  return {parent.trace_id, random_digits(kSpanDigits), parent.is_sampled};
}

const TraceContext* current_trace() { return thread_trace; }

TraceScope::TraceScope(const TraceContext& context) : before_(thread_trace) { thread_trace = &context; }
TraceScope::~TraceScope() { thread_trace = before_; }

}  // namespace dash
