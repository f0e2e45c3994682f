// The Merkle tree of RFC 6962 §2.1. Its leaf hashes are the entry hashes of the log. Pure functions.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"

namespace dash::audit {

// Returns SHA-256 of the empty string: the root of the empty tree.
std::string empty_root();
std::string node_hash(std::string_view left, std::string_view right);

// A tree that only grows: the roots of its complete subtrees, largest first, at most one per bit of its size.
class Frontier {
 public:
  Frontier() = default;
  // Reads the output of bytes(). Returns nullopt when it cannot belong to `size` leaves.
  static std::optional<Frontier> parse(std::int64_t size, std::string_view bytes);

  void add(std::string leaf_hash);
  std::string root() const;
  std::string bytes() const;
  std::int64_t size() const { return size_; }
  bool operator==(const Frontier&) const = default;

 private:
  std::int64_t size_ = 0;
  std::vector<std::string> roots_;
};

// A range of leaves [begin, end), counted from 0.
struct LeafRange {
  std::int64_t begin;
  std::int64_t end;
};
// Return the subtrees whose roots make the proof, in the proof's order (RFC 6962 §2.1.1 and §2.1.2).
std::vector<LeafRange> inclusion_ranges(std::int64_t leaf, std::int64_t size);
std::vector<LeafRange> consistency_ranges(std::int64_t old_size, std::int64_t size);

// Check proofs by RFC 9162 §2.1.3.2 and §2.1.4.2.
bool verify_inclusion(std::int64_t leaf, std::int64_t size, std::string leaf_hash,
                      const std::vector<std::string>& proof, std::string_view root);
bool verify_consistency(std::int64_t old_size, std::int64_t size, const std::vector<std::string>& proof,
                        std::string_view old_root, std::string_view root);

}  // namespace dash::audit
