#include "core/client/event_parser.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/must.hpp"

namespace dash::client {
namespace {

std::vector<std::string> parsed(std::string_view stream, std::size_t piece) {
  std::vector<std::string> out;
  EventParser parser([&](const ServerEvent& event) -> Result<void> {
    out.push_back(event.type + "|" + event.data + "|" + event.id);
    return {};
  });
  for (std::size_t at = 0; at < stream.size(); at += piece) must(parser.write(stream.substr(at, piece)));
  return out;
}

TEST(EventParser, ReadsEventsHoweverTheyArrive) {
  std::string_view stream =
      ": ping\n\nid: 7\ndata: {\"n\": 7}\n\nevent: gap\r\ndata:a\r\ndata: b\r\n\r\nevent: none\n\nevent: "
      "end\ndata\n\n"
      "data: cut";
  for (auto piece : {1u, 2u, 5u, 1000u})
    EXPECT_EQ(parsed(stream, piece),
              (std::vector<std::string>{"message|{\"n\": 7}|7", "gap|a\nb|7", "end||7"}))
        << piece;
}

TEST(EventParser, RefusesAnEndlessEvent) {
  EventParser parser([](const ServerEvent&) -> Result<void> { return {}; });
  EXPECT_EQ(parser.write(std::string(5u << 20, 'x')).error().code, Code::upstream);
}

TEST(EventParser, EndsWithTheErrorOfItsReader) {
  EventParser parser([](const ServerEvent&) -> Result<void> { return fail(Code::drift, "enough"); });
  EXPECT_EQ(parser.write("data: x\n\n").error().code, Code::drift);
}

}  // namespace
}  // namespace dash::client
