#include "core/agent/protocol/canonical_json.hpp"

#include <gtest/gtest.h>

#include "tests/agent/protocol/vectors.hpp"

namespace dash::agent {
namespace {

TEST(CanonicalJson, WritesTheVectorsByteForByte) {
  int compared = 0;
  for (const auto& example : vectors()["canonical_json"]) {
    auto value = parse_json(example["input_json"].get<std::string>());
    if (!value) continue;  // a strict reader refuses it, as the next test shows
    EXPECT_EQ(canonical_json(*value), example["canonical"].get<std::string>()) << example["name"];
    ++compared;
  }
  EXPECT_GE(compared, 33);
}

TEST(CanonicalJson, IsNeverAskedForWhatNoStrictReaderTakes) {
  for (const auto* text : {R"({"a":1,"a":3})", R"(["\ud800"])", "[1e400]", "[18446744073709551616]"})
    EXPECT_FALSE(parse_json(text)) << text;
}

}  // namespace
}  // namespace dash::agent
