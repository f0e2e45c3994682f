#include <gtest/gtest.h>

#include "core/net/process/child.hpp"
#include "tests/support/must.hpp"

namespace dash::net {
namespace {

std::chrono::steady_clock::time_point in(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

TEST(ChildExchange, AnswersManyQuestionsOverOnePairOfPipes) {
  auto child = must(Child::start({{"/bin/cat"}, {}, ""}));
  for (std::string text : {"one", "two"}) {
    must(child.send(text, in(std::chrono::seconds(10))));
    std::string back(text.size(), '\0');
    must(child.receive(back, in(std::chrono::seconds(10))));
    EXPECT_EQ(back, text);
  }
}

TEST(ChildExchange, GivesUpOnAChildThatSaysNothing) {
  auto child = must(Child::start({{"/bin/cat"}, {}, ""}));
  std::string back(1, '\0');
  EXPECT_EQ(child.receive(back, in(std::chrono::milliseconds(1))).error().code, Code::timeout);
}

TEST(ChildExchange, TellsThatTheChildEnded) {
  auto child = must(Child::start({{"/bin/true"}, {}, ""}));
  std::string back(1, '\0');
  EXPECT_EQ(child.receive(back, in(std::chrono::seconds(10))).error().code, Code::unreachable);
}

}  // namespace
}  // namespace dash::net
