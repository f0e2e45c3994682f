#include "core/audit/read.hpp"

#include <gtest/gtest.h>

#include "core/audit/prove.hpp"
#include "core/audit/verify.hpp"
#include "tests/audit/audit_fixture.hpp"

namespace dash::audit {
namespace {

TEST_F(AuditLog, PagesNewestFirstAndFilters) {
  for (int i = 0; i < 5; ++i) append("login");
  append("cloud1:vm:deploy:denied", "bob");
  EntryFilter filter;
  filter.limit = 4;
  auto page = must(list(log_, admin(), filter));
  ASSERT_EQ(page.entries.size(), 4u);
  EXPECT_EQ(page.entries[0].seq, 6);
  EXPECT_EQ(page.next_before, 3);
  filter.before = page.next_before;
  page = must(list(log_, admin(), filter));
  EXPECT_EQ(page.entries.size(), 2u);
  EXPECT_FALSE(page.next_before);
  EntryFilter denials;
  denials.action = "cloud1:*";
  EXPECT_EQ(must(list(log_, admin(), denials)).entries.size(), 1u);
  denials.username = "alice";
  EXPECT_EQ(must(list(log_, admin(), denials)).entries.size(), 0u);
}

TEST_F(AuditLog, IsForAdminsOnly) {
  Principal bob{"bob", false, {}, {}, Via::session, "", ""};
  EXPECT_EQ(list(log_, bob, {}).error().code, Code::forbidden);
  EXPECT_EQ(export_lines(log_, bob, [](std::string_view) -> Result<void> { return {}; }).error().code,
            Code::forbidden);
}

}  // namespace
}  // namespace dash::audit
