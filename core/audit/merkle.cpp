#include "core/audit/merkle.hpp"

#include <algorithm>

#include <bit>
#include <ranges>

#include "core/crypto/hash.hpp"

namespace dash::audit {
namespace {

constexpr std::size_t kHashBytes = 32;

std::uint64_t unsigned_of(std::int64_t n) { return static_cast<std::uint64_t>(n); }

// Returns the largest power of two below `n` (n > 1): where RFC 6962 splits a tree.
std::int64_t split(std::int64_t n) { return static_cast<std::int64_t>(std::bit_floor(unsigned_of(n - 1))); }

void consistency(std::int64_t old_size, LeafRange tree, bool complete, std::vector<LeafRange>& out) {
  auto size = tree.end - tree.begin;
  if (old_size == size) {
    if (!complete) out.push_back(tree);
    return;
  }
  auto k = split(size);
  if (old_size <= k) {
    consistency(old_size, {tree.begin, tree.begin + k}, complete, out);
    out.push_back({tree.begin + k, tree.end});
  } else {
    consistency(old_size - k, {tree.begin + k, tree.end}, false, out);
    out.push_back({tree.begin, tree.begin + k});
  }
}

}  // namespace

std::string empty_root() { return crypto::sha256(""); }

std::string node_hash(std::string_view left, std::string_view right) {
  std::array<char, 1 + 2 * kHashBytes> text;
  text[0] = 1;
  std::ranges::copy(left, text.begin() + 1);
  std::ranges::copy(right, text.begin() + 1 + kHashBytes);
  return crypto::sha256({text.data(), text.size()});
}

std::optional<Frontier> Frontier::parse(std::int64_t size, std::string_view bytes) {
  if (size < 0 || bytes.size() != kHashBytes * static_cast<std::size_t>(std::popcount(unsigned_of(size))))
    return std::nullopt;
  Frontier out;
  out.size_ = size;
  for (; !bytes.empty(); bytes.remove_prefix(kHashBytes))
    out.roots_.emplace_back(bytes.substr(0, kHashBytes));
  return out;
}

// Each trailing one bit of the size is a complete subtree that the new leaf completes to one of twice its
// size.
void Frontier::add(std::string leaf_hash) {
  for (int merges = std::countr_one(unsigned_of(size_)); merges > 0; --merges) {
    leaf_hash = node_hash(roots_.back(), leaf_hash);
    roots_.pop_back();
  }
  roots_.push_back(std::move(leaf_hash));
  ++size_;
}

std::string Frontier::root() const {
  if (roots_.empty()) return empty_root();
  std::string root = roots_.back();
  for (const auto& left : roots_ | std::views::reverse | std::views::drop(1)) root = node_hash(left, root);
  return root;
}

std::string Frontier::bytes() const {
  std::string out;
  for (const auto& root : roots_) out += root;
  return out;
}

std::vector<LeafRange> inclusion_ranges(std::int64_t leaf, std::int64_t size) {
  std::vector<LeafRange> out;
  LeafRange tree{0, size};
  while (tree.end - tree.begin > 1) {
    auto middle = tree.begin + split(tree.end - tree.begin);
    LeafRange left{tree.begin, middle};
    LeafRange right{middle, tree.end};
    out.push_back(leaf < middle ? right : left);
    tree = leaf < middle ? left : right;
  }
  std::ranges::reverse(out);
  return out;
}

std::vector<LeafRange> consistency_ranges(std::int64_t old_size, std::int64_t size) {
  std::vector<LeafRange> out;
  if (old_size > 0 && old_size < size) consistency(old_size, {0, size}, true, out);
  return out;
}

bool verify_inclusion(std::int64_t leaf, std::int64_t size, std::string leaf_hash,
                      const std::vector<std::string>& proof, std::string_view root) {
  if (leaf < 0 || leaf >= size) return false;
  auto fn = leaf, sn = size - 1;
  for (const auto& p : proof) {
    if (sn == 0 || p.size() != kHashBytes) return false;
    if ((fn & 1) != 0 || fn == sn) {
      leaf_hash = node_hash(p, leaf_hash);
      while ((fn & 1) == 0 && fn != 0) fn >>= 1, sn >>= 1;
    } else {
      leaf_hash = node_hash(leaf_hash, p);
    }
    fn >>= 1, sn >>= 1;
  }
  return sn == 0 && leaf_hash == root;
}

bool verify_consistency(std::int64_t old_size, std::int64_t size, const std::vector<std::string>& proof,
                        std::string_view old_root, std::string_view root) {
  if (old_size < 0 || old_size > size) return false;
  if (old_size == size) return proof.empty() && old_root == root;
  if (old_size == 0) return proof.empty() && old_root == empty_root();
  std::vector<std::string> path;
  if (std::has_single_bit(unsigned_of(old_size))) path.emplace_back(old_root);
  path.insert(path.end(), proof.begin(), proof.end());
  if (path.empty()) return false;
  auto fn = old_size - 1, sn = size - 1;
  while ((fn & 1) != 0) fn >>= 1, sn >>= 1;
  std::string fr = path[0], sr = path[0];
  for (const auto& c : path | std::views::drop(1)) {
    if (sn == 0 || c.size() != kHashBytes) return false;
    if ((fn & 1) != 0 || fn == sn) {
      fr = node_hash(c, fr);
      sr = node_hash(c, sr);
      while ((fn & 1) == 0 && fn != 0) fn >>= 1, sn >>= 1;
    } else {
      sr = node_hash(sr, c);
    }
    fn >>= 1, sn >>= 1;
  }
  return sn == 0 && fr == old_root && sr == root;
}

}  // namespace dash::audit
