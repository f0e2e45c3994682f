#include "core/deploy/plan_basis.hpp"

#include <gtest/gtest.h>

namespace dash::deploy {
namespace {

constexpr std::string_view kThird = R"({"version":4,"serial":3,"lineage":"a","resources":[]})";
constexpr std::string_view kFourth = R"({"version":4,"serial":4,"lineage":"a","resources":[]})";

TEST(PlanBasis, AnUnchangedStateIsNotStale) {
  EXPECT_FALSE(stale_plan(plan_basis(kThird), plan_basis(kThird)));
  EXPECT_FALSE(stale_plan(plan_basis(""), plan_basis("")));
}

TEST(PlanBasis, AnotherSerialLineageOrContentIs) {
  auto serial = stale_plan(plan_basis(kThird), plan_basis(kFourth));
  ASSERT_TRUE(serial);
  EXPECT_NE(serial->find("had serial 3"), std::string::npos);
  EXPECT_NE(serial->find("had serial 4"), std::string::npos);
  EXPECT_TRUE(stale_plan(plan_basis(""), plan_basis(kThird)));
  EXPECT_TRUE(stale_plan(plan_basis(kThird), plan_basis("")));
  EXPECT_TRUE(stale_plan(plan_basis(kThird), plan_basis(R"({"serial":3,"lineage":"b"})")));
  auto edited = stale_plan(plan_basis(kThird), plan_basis(R"({"version":4,"serial":3,"lineage":"a"})"));
  ASSERT_TRUE(edited);
  EXPECT_NE(edited->find("other content"), std::string::npos);
}

}  // namespace
}  // namespace dash::deploy
