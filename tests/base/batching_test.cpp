#include "core/base/batching.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace dash {
namespace {

TEST(Batching, WhoComesWhileTheLeaderPreparesGoesAlong) {
  constexpr std::size_t kAll = 8;
  int rounds = 0;
  Batching<int> batching([&](const Batching<int>::Take& take) {
    ++rounds;
    std::size_t taken = 0;
    while (taken < kAll) {
      for (auto* item : take()) {
        *item += 1;
        ++taken;
      }
    }
  });
  std::vector<int> items(kAll);
  std::vector<std::jthread> threads;
  for (auto& item : items) threads.emplace_back([&] { batching.run(item); });
  threads.clear();
  EXPECT_EQ(items, std::vector<int>(kAll, 1)) << "each is served once";
  EXPECT_EQ(rounds, 1);
}

TEST(Batching, ServesWhatCameAfterTheTakeInATurnOfItsOwn) {
  std::vector<std::size_t> batches;
  std::jthread second;
  Batching<int>* self = nullptr;
  int first_item = 0, second_item = 0;
  Batching<int> batching([&](const Batching<int>::Take& take) {
    batches.push_back(take().size());
    if (batches.size() == 1) second = std::jthread([&] { self->run(second_item); });
  });
  self = &batching;
  batching.run(first_item);
  second.join();
  EXPECT_EQ(batches, (std::vector<std::size_t>{1, 1}));
}

}  // namespace
}  // namespace dash
