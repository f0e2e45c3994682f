#include "core/storage/store/metered.hpp"

#include <gtest/gtest.h>

#include "core/base/metrics.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/must.hpp"

namespace dash::storage {
namespace {

TEST(MeteredStore, CountsBytesAndResultsByBackendAndOperation) {
  auto store = with_metrics(std::make_shared<MemoryStore>(), "metered_test");
  must(store->put("key", std::string_view("four bytes and more"), {}));
  std::string out(100, '\0');
  EXPECT_EQ(must(store->open("key", out)).size, 19u);
  EXPECT_FALSE(store->head("absent"));
  auto text = metrics::expose({});
  for (auto* line :
       {R"(dashctl_store_bytes_total{backend="metered_test",operation="put"} 19)",
        R"(dashctl_store_bytes_total{backend="metered_test",operation="read"} 19)",
        R"(dashctl_store_seconds_count{backend="metered_test",operation="head",result="not_found"} 1)",
        R"(dashctl_store_seconds_count{backend="metered_test",operation="put",result="ok"} 1)"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

TEST(MeteredStore, SaysWhatTheStoreBeneathSays) {
  auto beneath = std::make_shared<MemoryStore>("memory://place");
  auto store = with_metrics(beneath, "metered_test");
  EXPECT_EQ(store->place(), "memory://place");
  EXPECT_EQ(store->capabilities().max_bytes, beneath->capabilities().max_bytes);
  auto upload = must(store->begin("big", std::nullopt));
  must(store->put_part(upload, 1, std::string_view("part"), /*is_last=*/true));
  must(store->commit(upload, must(store->staged_parts(upload)), {}));
  EXPECT_EQ(must(store->head("big")).size, 4u);
  must(store->remove("big"));
  EXPECT_EQ(store->head("big").error().code, Code::not_found);
}

}  // namespace
}  // namespace dash::storage
