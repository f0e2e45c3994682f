#include "core/base/trace.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace dash {
namespace {

constexpr std::string_view kParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceParent, IsReadAndWritten) {
  auto context = parse_traceparent(kParent);
  ASSERT_TRUE(context);
  EXPECT_EQ(context->trace_id, "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(context->span_id, "00f067aa0ba902b7");
  EXPECT_TRUE(context->is_sampled);
  EXPECT_EQ(to_traceparent(*context), kParent);
  EXPECT_FALSE(parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-02")->is_sampled);
  EXPECT_TRUE(
      parse_traceparent("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0b-what-the-future-has"));
}

TEST(TraceParent, IsIgnoredWhereTheStandardSaysSo) {
  for (auto text : {"", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
                    "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
                    "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                    "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
                    "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
                    "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01more",
                    "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01"})
    EXPECT_FALSE(parse_traceparent(text)) << text;
}

TEST(TraceSpan, StaysInItsTraceAndIsItsOwn) {
  auto trace = begin_trace(true);
  auto span = begin_span(trace);
  EXPECT_EQ(span.trace_id, trace.trace_id);
  EXPECT_NE(span.span_id, trace.span_id);
  EXPECT_TRUE(span.is_sampled);
  EXPECT_TRUE(parse_traceparent(to_traceparent(span)));
  EXPECT_NE(begin_trace(true).trace_id, trace.trace_id);
}

TEST(TraceScopes, NestAndBelongToOneThread) {
  EXPECT_EQ(current_trace(), nullptr);
  auto outer = begin_trace(false), inner = begin_span(outer);
  TraceScope one(outer);
  {
    TraceScope two(inner);
    EXPECT_EQ(current_trace(), &inner);
    std::jthread([] { EXPECT_EQ(current_trace(), nullptr); });
  }
  EXPECT_EQ(current_trace(), &outer);
}

}  // namespace
}  // namespace dash
