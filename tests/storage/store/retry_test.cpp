#include "core/storage/store/retry.hpp"

#include <gtest/gtest.h>

#include "tests/support/faulty_store.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/must.hpp"
#include "tests/support/sweep_store.hpp"

namespace dash::storage {
namespace {

struct World {
  std::shared_ptr<MemoryStore> memory = std::make_shared<MemoryStore>();
  std::shared_ptr<FaultyStore> faulty = std::make_shared<FaultyStore>(memory);
  std::shared_ptr<ObjectStore> store =
      with_retry(faulty, net::Retry(
                             {}, [](std::chrono::milliseconds) {}, [] { return 0.0; }));
};

TEST(RetryingStore, EveryIdempotentCallSurvivesOneLostRequestAndOneLostAnswer) {
  for (auto fault : {Fault::before, Fault::after}) {
    World world;
    auto again = [&] { world.faulty->fail_call(world.faulty->calls() + 1, fault); };
    again();
    EXPECT_TRUE(world.store->put("k", "bytes", {}));
    again();
    EXPECT_EQ(must(world.store->head("k")).size, 5u);
    again();
    EXPECT_EQ(must(world.store->list("", "")).objects.size(), 1u);
    std::string out(5, '\0');
    again();
    EXPECT_EQ(must(world.store->read("k", 0, "", out)), 5u);
    again();
    EXPECT_EQ(must(world.store->open("k", out)).object.size, 5u);
    again();
    auto upload = must(world.store->begin("u", std::nullopt));
    again();
    EXPECT_TRUE(world.store->put_part(upload, 1, "part", true));
    again();
    auto parts = must(world.store->staged_parts(upload));
    again();
    EXPECT_EQ(must(world.store->commit(upload, parts, {})).size, 4u);
    EXPECT_EQ(world.memory->bytes_of("u"), "part");
    auto another = must(world.store->begin("u", std::nullopt));
    again();
    EXPECT_TRUE(world.store->abort(another));
    must(world.store->begin("left", std::nullopt));
    again();
    EXPECT_TRUE(sweep_store(*world.store, "", Time::max()));
    EXPECT_EQ(world.memory->open_uploads(), 0u);
    again();
    EXPECT_TRUE(world.store->remove("k"));
    EXPECT_FALSE(world.memory->has("k"));
  }
}

TEST(RetryingStore, DoesNotRepeatACreationWhoseAnswerWasLost) {
  World world;
  world.faulty->fail_call(1, Fault::after);
  EXPECT_EQ(world.store->put("k", "bytes", {.digest = "", .only_if_absent = true}).error().code,
            Code::unreachable);
  EXPECT_EQ(world.faulty->calls(), 1);
}

TEST(RetryingStore, ACommitThatFailsForGoodIsAskedOnce) {
  World world;
  auto upload = must(world.store->begin("u", std::nullopt));
  must(world.store->put_part(upload, 1, "part", true));
  must(world.store->abort(upload));
  auto before = world.faulty->calls();
  EXPECT_EQ(world.store->commit(upload, {{1, 4, ""}}, {}).error().code, Code::not_found);
  EXPECT_EQ(world.faulty->calls(), before + 1);
}

TEST(RetryingStore, AnAbsentKeyIsStillAbsentAtTheFirstAttempt) {
  World world;
  EXPECT_EQ(world.store->remove("k").error().code, Code::not_found);
}

}  // namespace
}  // namespace dash::storage
