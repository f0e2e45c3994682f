#include "core/net/ssh/ssh_key.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/crypto/hash.hpp"

namespace dash::net {
namespace {

std::string wire(std::string_view text) {
  auto size = text.size();
  std::string out{static_cast<char>(size >> 24), static_cast<char>(size >> 16), static_cast<char>(size >> 8),
                  static_cast<char>(size)};
  return out.append(text);
}

// The public half of a key file, which is all that is read of it.
std::string key_file(std::string_view cipher, std::string_view type) {
  auto bytes = std::string("openssh-key-v1\0", 15) + wire(cipher) + wire("bcrypt") + wire("") +
               std::string("\0\0\0\1", 4) + wire(wire(type) + wire("point")) + wire("sealed");
  auto text = crypto::to_base64(bytes);
  for (std::size_t at = 70; at < text.size(); at += 71) text.insert(at, "\n");
  return fmt::format("-----BEGIN OPENSSH PRIVATE {0}-----\n{1}\n-----END OPENSSH PRIVATE {0}-----\n", "KEY",
                     text);
}

TEST(SshKey, TellsTypeLockAndPublicKeyOfOpenSshFiles) {
  auto open = read_key_info(key_file("none", "ssh-ed25519"));
  EXPECT_FALSE(open.is_locked);
  EXPECT_EQ(open.type, "ssh-ed25519");
  EXPECT_EQ(open.public_blob, wire("ssh-ed25519") + wire("point"));
  auto locked = read_key_info(key_file("aes256-ctr", "ssh-rsa"));
  EXPECT_TRUE(locked.is_locked);
  EXPECT_EQ(locked.type, "ssh-rsa");
}

TEST(SshKey, TellsWhatItCanOfPem) {
  EXPECT_EQ(read_key_info("-----BEGIN RSA PRIVATE KEY-----\nx").type, "ssh-rsa");
  EXPECT_TRUE(read_key_info("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n").is_locked);
  EXPECT_TRUE(read_key_info("-----BEGIN ENCRYPTED PRIVATE KEY-----\n").is_locked);
  EXPECT_FALSE(read_key_info("-----BEGIN PRIVATE KEY-----\n").is_locked);
}

TEST(SshKey, ReadsNothingIntoGarbage) {
  for (auto text :
       {"", "garbage", "-----BEGIN OPENSSH PRIVATE KEY-----", "-----BEGIN OPENSSH PRIVATE KEY-----\n!!!\n"}) {
    auto facts = read_key_info(text);
    EXPECT_FALSE(facts.is_locked) << text;
    EXPECT_EQ(facts.type + facts.public_blob, "") << text;
  }
  auto whole = key_file("none", "ssh-ed25519");
  for (std::size_t n = 0; n < whole.size(); ++n) read_key_info(whole.substr(0, n));
  EXPECT_EQ(key_type("\xff\xff\xff\xff"), "");
}

}  // namespace
}  // namespace dash::net
