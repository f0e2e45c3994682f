#include "core/storage/settings/state_document.hpp"

#include <gtest/gtest.h>

namespace dash::storage {
namespace {

std::string state(int serial, std::string_view lineage, std::string_view more = "") {
  return fmt::format(R"({{"version":4,"serial":{},"lineage":"{}"{}}})", serial, lineage, more);
}

TEST(StateDocument, HasAddressesAndClearOutputsAlone) {
  auto text =
      state(3, "a", R"(,"outputs":{"ip":{"value":"10.0.0.1"},"key":{"value":"s3cret","sensitive":true}},
      "resources":[{"mode":"managed","type":"terraform_data","name":"x",
                    "instances":[{"index_key":0,"attributes":{"password":"hunter2"}},{"index_key":"b"}]},
                   {"module":"module.m","mode":"data","type":"t","name":"y","instances":[{}]}])");
  auto parsed = parse_state(text);
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->resources.size(), 3u);
  EXPECT_EQ(parsed->resources[0].address, "terraform_data.x[0]");
  EXPECT_EQ(parsed->resources[1].address, "terraform_data.x[\"b\"]");
  EXPECT_EQ(parsed->resources[2].address, "module.m.data.t.y");
  EXPECT_EQ(dump_json(parsed->outputs), R"({"ip":"10.0.0.1","key":null})");
}

TEST(StateDocument, IsNoneForOtherShapes) {
  for (auto text : {"", "[]", "{}", "x", R"({"serial":"1","lineage":"a"})", R"({"serial":1})"})
    EXPECT_FALSE(parse_state(text)) << text;
}

TEST(StateDocument, IsOlderWithTheSameLineageAndALowerSerialAlone) {
  auto source = state(5, "a");
  EXPECT_EQ(relation_of(source, source), StateRelation::same_bytes);
  EXPECT_EQ(relation_of(source, ""), StateRelation::older);
  EXPECT_EQ(relation_of(source, state(4, "a")), StateRelation::older);
  for (const auto& target : {state(6, "a"), state(5, "a", " "), state(4, "b"), std::string("x")})
    EXPECT_EQ(relation_of(source, target), StateRelation::newer_or_other) << target;
  EXPECT_EQ(conflict_text(source, state(6, "a")), "its serial is 6, and that of the copy is 5");
}

}  // namespace
}  // namespace dash::storage
