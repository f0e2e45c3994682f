#include "core/client/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <stdexcept>
#include <vector>

namespace dash::client {

TEST(Parallel, TellsResultsInTheOrderOfTheListWhoeverIsFirst) {
  Sequencer backwards;  // item 0 is done last
  std::vector<std::size_t> told;
  parallel_for_ordered<std::size_t>(
      3, 3,
      [&](std::size_t i) {
        backwards.wait_for(2 - i);
        backwards.advance();
        return i * 10;
      },
      [&](std::size_t i, std::size_t result) {
        EXPECT_EQ(result, i * 10);
        told.push_back(i);
      });
  EXPECT_EQ(told, (std::vector<std::size_t>{0, 1, 2}));
}

TEST(Parallel, OneWorkerDoesAll) {
  std::set<std::size_t> done;
  parallel_for_ordered<int>(
      100, 1, [&](std::size_t i) { return static_cast<int>(done.insert(i).second); },
      [](std::size_t, int is_new) { EXPECT_EQ(is_new, 1); });
  EXPECT_EQ(done.size(), 100u);
}

TEST(Parallel, WhatTheWorkThrowsEndsItAndIsThrownHere) {
  std::vector<std::size_t> told;
  auto work = [](std::size_t i) -> int { return i == 1 ? throw std::runtime_error("odd") : 0; };
  EXPECT_THROW(parallel_for_ordered<int>(9, 3, work, [&](std::size_t i, int) { told.push_back(i); }),
               std::runtime_error);
  EXPECT_EQ(told, std::vector<std::size_t>{0});
}

TEST(Parallel, AClosedSequencerLetsNobodyWait) {
  Sequencer turn;
  std::atomic<int> refused = 0;
  run_workers(3, [&](std::size_t hand) {
    if (hand == 0) return turn.close();
    if (!turn.wait_for(hand)) ++refused;
  });
  EXPECT_EQ(refused, 2);
}

}  // namespace dash::client
