#include "daemon/server/connection_table.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace dash::daemon {
namespace {

using Row = std::unique_ptr<ConnectionTable::Row>;

class Table : public testing::Test {
 protected:
  // An idle one that notes its eviction under `name`.
  Row idle(const std::string& name, const std::string& network = "") {
    auto row = table_.enter(network);
    if (!row) return row;
    ConnectionTable::on_evict(*row, [this, name] { evicted_.push_back(name); });
    table_.set_idle(*row);
    return row;
  }
  Row busy(const std::string& network = "") { return table_.enter(network); }

  ConnectionTable table_{{8, 2}};
  std::vector<std::string> evicted_;
};

using Names = std::vector<std::string>;

TEST_F(Table, TheLongestIdleMakesRoom) {
  std::vector<Row> rows;
  for (auto name : {"a", "b", "c", "d", "e", "f", "g", "h"}) rows.push_back(idle(name));
  table_.set_busy(*rows[0]);  // answers a request
  table_.set_idle(*rows[1]);  // is idle already: keeps its place
  auto i = idle("i");
  EXPECT_FALSE(i->is_extra());
  EXPECT_EQ(evicted_, Names{"b"});
  table_.set_idle(*rows[0]);
  auto j = idle("j"), k = idle("k");
  EXPECT_EQ(evicted_, (Names{"b", "c", "d"}));
}

TEST_F(Table, WhatHasMadeRoomDoesNothingMore) {
  std::vector<Row> rows;
  for (int i = 0; i < 8; ++i) rows.push_back(idle(std::to_string(i)));
  auto next = idle("next");
  EXPECT_FALSE(table_.set_busy(*rows[0]));
  EXPECT_TRUE(table_.set_busy(*rows[1]));
  EXPECT_EQ(table_.count(), 9u);  // it still has to go
  rows.erase(rows.begin());
  EXPECT_EQ(table_.count(), 8u);
}

TEST_F(Table, WithoutAnIdleOneAFewStandAboveTheLimit) {
  std::vector<Row> rows;
  for (int i = 0; i < 8; ++i) rows.push_back(busy());
  auto one = busy(), two = idle("two");
  EXPECT_TRUE(one->is_extra() && two->is_extra());
  auto three = busy();  // the idle one above the limit is evicted for another
  EXPECT_TRUE(three->is_extra());
  EXPECT_EQ(evicted_, Names{"two"});
  EXPECT_FALSE(busy());
  rows.pop_back();
  EXPECT_FALSE(busy()->is_extra());
}

TEST_F(Table, AParkedOneCountsNeitherForTheLimitNorForItsNetwork) {
  ConnectionTable table({8, 2, 3});
  std::vector<Row> parked, rows;
  for (int i = 0; i < 3; ++i) table.park(*parked.emplace_back(table.enter("one")));
  for (int i = 0; i < 6; ++i) EXPECT_FALSE(rows.emplace_back(table.enter("one"))->is_extra()) << i;
  EXPECT_FALSE(rows.emplace_back(table.enter("two"))->is_extra());
  EXPECT_FALSE(rows.emplace_back(table.enter("two"))->is_extra());
  EXPECT_TRUE(table.enter("two")->is_extra());
  table.park(*rows[0]);  // three are parked: it counts as before
  EXPECT_TRUE(table.enter("two")->is_extra());
  parked.pop_back();
  table.park(*rows[0]);
  EXPECT_FALSE(table.enter("three")->is_extra());
  EXPECT_EQ(table.count(), 10u);
}

TEST_F(Table, AParkedOneIsNoIdleOneAndTakesAPlaceWhenItGoesOn) {
  ConnectionTable table({8, 2, 3});
  auto waiting = table.enter("");
  table.park(*waiting);
  std::vector<Row> rows;
  for (int i = 0; i < 8; ++i) {
    auto& row = rows.emplace_back(table.enter(""));
    ConnectionTable::on_evict(*row, [this, i] { evicted_.push_back(std::to_string(i)); });
    table.set_idle(*row);
  }
  EXPECT_TRUE(evicted_.empty());
  table.unpark(*waiting);
  EXPECT_EQ(evicted_, Names{"0"});
  EXPECT_TRUE(table.set_busy(*waiting));
}

TEST_F(Table, WhenTheyRunShortANetworkHasItsShare) {
  std::vector<Row> rows;
  for (int i = 0; i < 6; ++i) rows.push_back(busy("one"));  // three quarters: there was space
  EXPECT_TRUE(busy("one")->is_extra());
  EXPECT_FALSE(busy("two")->is_extra());
  ConnectionTable::on_evict(*rows[0], [this] { evicted_.push_back("own"); });
  table_.set_idle(*rows[0]);
  auto again = busy("one");
  EXPECT_FALSE(again->is_extra());
  EXPECT_EQ(evicted_, Names{"own"});
}

TEST_F(Table, AProxysRequestsCountForItsClients) {
  std::vector<Row> rows;
  for (int i = 0; i < 8; ++i) {
    rows.push_back(busy());
    EXPECT_TRUE(table_.assign(*rows.back(), "client " + std::to_string(i)));
  }
  EXPECT_TRUE(table_.assign(*rows[0], "client 1"));
  EXPECT_FALSE(table_.assign(*rows[2], "client 1"));  // has a quarter of all
  EXPECT_TRUE(table_.assign(*rows[0], ""));           // its answer is out
  EXPECT_TRUE(table_.assign(*rows[2], "client 1"));
}

TEST_F(Table, ADrainWaitsForTheLast) {
  auto row = idle("a");
  EXPECT_FALSE(table_.wait_until_empty(std::chrono::milliseconds(1)));
  EXPECT_TRUE(table_.evict_longest_idle());
  EXPECT_FALSE(table_.evict_longest_idle());
  EXPECT_FALSE(table_.wait_until_empty(std::chrono::milliseconds(1)));
  row.reset();
  EXPECT_TRUE(table_.wait_until_empty(std::chrono::milliseconds(1)));
}

}  // namespace
}  // namespace dash::daemon
