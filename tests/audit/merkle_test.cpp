#include "core/audit/merkle.hpp"

#include <gtest/gtest.h>

#include "core/crypto/hash.hpp"

namespace dash::audit {
namespace {

std::string leaf(int i) {
  return crypto::sha256(std::string(1, '\0') + std::string(static_cast<std::size_t>(i % 7), 'x') +
                        std::to_string(i));
}

// RFC 6962 §2.1, word for word.
std::string reference_root(int begin, int end) {
  if (end == begin) return crypto::sha256("");
  if (end - begin == 1) return leaf(begin);
  int k = 1;
  while (k * 2 < end - begin) k *= 2;
  return node_hash(reference_root(begin, begin + k), reference_root(begin + k, end));
}

Frontier tree(int size) {
  Frontier out;
  for (int i = 0; i < size; ++i) out.add(leaf(i));
  return out;
}

std::vector<std::string> roots(const std::vector<LeafRange>& ranges) {
  std::vector<std::string> out;
  for (auto r : ranges) out.push_back(reference_root(static_cast<int>(r.begin), static_cast<int>(r.end)));
  return out;
}

// The vectors that certificate-transparency implementations share (eight leaves).
TEST(Merkle, HasTheRootsOfTheReferenceTree) {
  std::vector<std::string> hex = {
      "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"};
  Frontier t;
  EXPECT_EQ(crypto::to_hex(t.root()), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  for (const auto& h : hex) t.add(crypto::sha256(std::string(1, '\0') + crypto::from_hex(h).value()));
  EXPECT_EQ(crypto::to_hex(t.root()), "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328");
}

TEST(Merkle, GrowsToTheSameRootAsTheRecursiveDefinition) {
  for (int n = 0; n <= 70; ++n) EXPECT_EQ(tree(n).root(), reference_root(0, n)) << n;
}

TEST(Merkle, SurvivesBeingWrittenDown) {
  for (int n = 0; n <= 40; ++n) {
    auto parsed = Frontier::parse(n, tree(n).bytes());
    ASSERT_TRUE(parsed);
    parsed->add(leaf(n));
    EXPECT_EQ(parsed->root(), reference_root(0, n + 1));
  }
  EXPECT_FALSE(Frontier::parse(3, std::string(32, 'x')));
  EXPECT_FALSE(Frontier::parse(-1, ""));
}

TEST(Merkle, ProvesEveryLeafOfEveryTreeAndNoOther) {
  for (int n = 1; n <= 20; ++n)
    for (int i = 0; i < n; ++i) {
      auto proof = roots(inclusion_ranges(i, n));
      EXPECT_TRUE(verify_inclusion(i, n, leaf(i), proof, reference_root(0, n))) << i << "/" << n;
      EXPECT_FALSE(verify_inclusion(i, n, leaf(i + 1), proof, reference_root(0, n)));
      EXPECT_FALSE(verify_inclusion((i + 1) % n, n, leaf(i), proof, reference_root(0, n)) && n > 1);
    }
}

TEST(Merkle, ProvesEveryPrefixAndNoOther) {
  for (int n = 0; n <= 20; ++n)
    for (int m = 0; m <= n; ++m) {
      auto proof = roots(consistency_ranges(m, n));
      EXPECT_TRUE(verify_consistency(m, n, proof, reference_root(0, m), reference_root(0, n)))
          << m << "/" << n;
      EXPECT_FALSE(m > 0 && verify_consistency(m, n, proof, leaf(99), reference_root(0, n)));
    }
}

}  // namespace
}  // namespace dash::audit
