// Copies states from one place to another, so that none is lost: nothing at the target is replaced that could
// be newer, and each copy is read back. Thread-safe.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "core/base/buffer_pool.hpp"
#include "core/storage/settings/state_place.hpp"

namespace dash::storage {

struct StateCopy {
  std::string job;  // empty for what is beside the states
  Object source;
  std::string key;         // at the target
  bool is_new = true;      // the target has no such object
  bool is_same = false;    // the target has the same bytes already
  std::string conflict{};  // why the target's state must not be replaced; empty: it may
};

// Compares every state of `from` with what `to` has, and writes nothing. Code::conflict when two of them
// would get one key.
Result<std::vector<StateCopy>> plan_state_copy(const StatePlace& from, const StatePlace& to);

// Copies what the plan names, then reads both sides back. Code::integrity when a copy has other bytes,
// Code::conflict when a source changed meanwhile. What was copied stays.
Result<void> run_state_copy(const std::vector<StateCopy>& plan, const StatePlace& from, const StatePlace& to,
                            BufferPool& buffers);

}  // namespace dash::storage
