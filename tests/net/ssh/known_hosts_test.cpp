#include "core/net/ssh/known_hosts.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/crypto/hash.hpp"
#include "core/crypto/hmac_sha1.hpp"

namespace dash::net {
namespace {

const HostKey kKey{"ssh-ed25519", "the blob of the key"};
const HostKey kOther{"ssh-ed25519", "another blob"};

std::string line(std::string_view names, const HostKey& key = kKey, std::string_view marker = "") {
  return fmt::format("{}{} {} {} a comment\n", marker, names, key.type, crypto::to_base64(key.blob));
}
std::string hashed(std::string_view name) {
  std::string salt(20, 's');
  return fmt::format("|1|{}|{}", crypto::to_base64(salt), crypto::to_base64(crypto::hmac_sha1(salt, name)));
}

TEST(KnownHosts, FindsPlainBracketedPatternAndHashedNames) {
  for (const auto& names :
       {std::string("h.example"), std::string("other,h.example"), std::string("*.example"),
        std::string("H.EXAMPLE"), std::string("h.exampl?"), hashed("h.example")})
    EXPECT_EQ(check_host_key(line(names), "h.example", 22, kKey), HostKeyStatus::known) << names;
  for (const auto& names : {std::string("[h.example]:2222"), std::string("[*]:2222"),
                            hashed("[h.example]:2222"), std::string("h.example")})
    EXPECT_EQ(check_host_key(line(names), "h.example", 2222, kKey), HostKeyStatus::known) << names;
  EXPECT_EQ(check_host_key(line("::1"), "::1", 22, kKey), HostKeyStatus::known);
  EXPECT_EQ(check_host_key(line("h.example"), "H.Example", 22, kKey), HostKeyStatus::known);
}

TEST(KnownHosts, DoesNotTakeOneHostForAnother) {
  for (auto names : {"x.example", "[h.example]:2222", "h", "*.example,!h.example", "|1|bad|worse", "|1|"})
    EXPECT_EQ(check_host_key(line(names), "h.example", 22, kKey), HostKeyStatus::unknown) << names;
  EXPECT_EQ(check_host_key("", "h.example", 22, kKey), HostKeyStatus::unknown);
  EXPECT_EQ(check_host_key("# h.example\n\nh.example\nh.example ssh-ed25519\n", "h.example", 22, kKey),
            HostKeyStatus::unknown);
}

TEST(KnownHosts, AnotherKeyIsAChangeUnlessTheRightOneIsListedToo) {
  EXPECT_EQ(check_host_key(line("h", kOther), "h", 22, kKey), HostKeyStatus::changed);
  EXPECT_EQ(check_host_key(line("h", kOther) + line("h"), "h", 22, kKey), HostKeyStatus::known);
  EXPECT_EQ(check_host_key(line("h", {"ssh-rsa", "r"}), "h", 22, kKey), HostKeyStatus::other_type);
  // The same machine on another port may be another server.
  EXPECT_EQ(check_host_key(line("h", kOther), "h", 2222, kKey), HostKeyStatus::unknown);
}

TEST(KnownHosts, ARevokedKeyIsNeverGood) {
  EXPECT_EQ(check_host_key(line("h") + line("*", kKey, "@revoked "), "h", 22, kKey), HostKeyStatus::revoked);
  EXPECT_EQ(check_host_key(line("h") + line("*", kOther, "@revoked "), "h", 22, kKey), HostKeyStatus::known);
  EXPECT_EQ(check_host_key(line("h", kKey, "@cert-authority "), "h", 22, kKey), HostKeyStatus::unknown);
}

TEST(KnownHosts, TellsWhichTypesToAskFor) {
  auto text = line("h", {"ecdsa-sha2-nistp256", "e"}) + line("x") + line("h", {"ssh-rsa", "r"}) +
              line("h", {"ssh-rsa", "q"});
  EXPECT_EQ(listed_key_types(text, "h", 22), (std::vector<std::string>{"ecdsa-sha2-nistp256", "ssh-rsa"}));
  EXPECT_TRUE(listed_key_types(text, "unheard-of", 22).empty());
}

TEST(KnownHosts, WritesALineThatItReadsBack) {
  for (int port : {22, 2222}) {
    auto text = known_hosts_line("H.example", port, kKey);
    EXPECT_EQ(check_host_key(text, "h.example", port, kKey), HostKeyStatus::known) << text;
  }
  EXPECT_EQ(known_hosts_line("h", 2222, kKey).substr(0, 9), "[h]:2222 ");
}

// Vector: printf '' | openssl … of an empty blob.
TEST(KnownHosts, ShowsFingerprintsAsSshKeygenDoes) {
  EXPECT_EQ(host_key_fingerprint({"ssh-ed25519", ""}), "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU");
}

}  // namespace
}  // namespace dash::net
