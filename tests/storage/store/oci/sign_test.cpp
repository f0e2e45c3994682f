#include "core/storage/store/oci/sign.hpp"

#include <gtest/gtest.h>

#include "core/base/file.hpp"
#include "tests/support/must.hpp"

namespace dash::storage::oci {
namespace {

// Key, requests and signatures of the vendor's page "Request Signatures", section "Test Values".
constexpr std::string_view kTenancy =
    "ocid1.tenancy.oc1..aaaaaaaaba3pv6wkcr4jqae5f15p2b2m2yt2j6rx32uzr4h25vqstifsfdsq";
constexpr std::string_view kUser =
    "ocid1.user.oc1..aaaaaaaat5nvwcna5j6aqzjcaty5eqbb6qt2jvpkanghtgdaqedqw3rynjq";
constexpr std::string_view kFingerprint = "73:61:a2:21:67:e0:df:be:7e:4b:93:1e:15:98:a5:b7";
constexpr std::string_view kHost = "iaas.us-phoenix-1.oraclecloud.com";
constexpr std::string_view kDate = "Thu, 05 Jan 2014 21:31:40 GMT";

std::string key_text() { return must(read_file(DASH_TESTDATA "/oci/draft_cavage_key.pem", 1 << 16)); }
Result<Credentials> read(std::string_view tenancy, std::string_view fingerprint, const std::string& pem) {
  return read_credentials(tenancy, kUser, fingerprint, Secret(pem), Secret());
}
Credentials credentials() { return must(read(kTenancy, kFingerprint, key_text())); }

std::string authorization(std::string_view headers, std::string_view signature) {
  return fmt::format(
      R"(Signature version="1",keyId="{}/{}/{}",algorithm="rsa-sha256",headers="{}",signature="{}")",
      kTenancy, kUser, kFingerprint, headers, signature);
}

TEST(OciSign, SignsTheVendorsGetAsPublished) {
  auto target =
      "/20160918/instances?availabilityDomain=Pjwf%3A%20PHX-AD-1&compartmentId=ocid1.compartment.oc1.."
      "aaaaaaaam3we6vgnherjq5q2idnccdflvjsnog7mlr6rtdb25gilchfeyjxa&displayName=TeamXInstances&volumeId="
      "ocid1.volume.oc1.phx.abyhqljrgvttnlx73nmrwfaux7kcvzfs3s66izvxf2h4lgvyndsdsnoiwr5q";
  auto headers = sign(credentials(), {"GET", target, kHost, std::nullopt}, kDate);
  EXPECT_EQ(headers.get("date"), kDate);
  EXPECT_EQ(headers.get("host"), kHost);
  EXPECT_EQ(
      headers.get("authorization"),
      authorization("date (request-target) host",
                    "GBas7grhyrhSKHP6AVIj/h5/Vp8bd/peM79H9Wv8kjoaCivujVXlpbKLjMPeDUhxkFIWtTtLBj3sUzaFj34"
                    "XE6YZAHc9r2DmE4pMwOAy/kiITcZxa1oHPOeRheC0jP2dqbTll8fmTZVwKZOKHYPtrLJIJQHJjNvxFWeHQj"
                    "MaR7M="));
}

TEST(OciSign, SignsTheVendorsPostWithItsBodyAsPublished) {
  auto body = R"({
    "compartmentId": "ocid1.compartment.oc1..aaaaaaaam3we6vgnherjq5q2idnccdflvjsnog7mlr6rtdb25gilchfeyjxa",
    "instanceId": "ocid1.instance.oc1.phx.abuw4ljrlsfiqw6vzzxb43vyypt4pkodawglp3wqxjqofakrwvou52gb6s5a",
    "volumeId": "ocid1.volume.oc1.phx.abyhqljrgvttnlx73nmrwfaux7kcvzfs3s66izvxf2h4lgvyndsdsnoiwr5q"
})";
  auto headers = sign(credentials(), {"POST", "/20160918/volumeAttachments", kHost, body}, kDate);
  EXPECT_EQ(headers.get("content-type"), "application/json");
  EXPECT_EQ(headers.get("x-content-sha256"), "V9Z20UJTvkvpJ50flBzKE32+6m2zJjweHpDMX/U4Uy0=");
  EXPECT_EQ(
      headers.get("authorization"),
      authorization("date (request-target) host content-length content-type x-content-sha256",
                    "Mje8vIDPlwIHmD/cTDwRxE7HaAvBg16JnVcsuqaNRim23fFPgQfLoOOxae6WqKb1uPjYEl0qIdazWaBy/Ml"
                    "8DRhqlocMwoSXv0fbukP8J5N80LCmzT/FFBvIvTB91XuXI3hYfP9Zt1l7S6ieVadHUfqBedWH0itrtPJBgK"
                    "mrWso="));
}

TEST(OciCredentials, TakeAKeyWhoseLineBreaksAreSpelledOut) {
  std::string one_line;
  for (char c : key_text()) one_line += c == '\n' ? std::string("\\n") : std::string(1, c);
  EXPECT_TRUE(read(kTenancy, kFingerprint, one_line));
}

TEST(OciCredentials, NameTheSettingThatIsMissingOrWrong) {
  EXPECT_NE(read(" ", kFingerprint, key_text()).error().message.find("cloud4_tenancy_ocid"),
            std::string::npos);
  EXPECT_NE(read(kTenancy, "", key_text()).error().message.find("cloud4_fingerprint"), std::string::npos);
  EXPECT_NE(read(kTenancy, kFingerprint, "").error().message.find("cloud4_private_key"), std::string::npos);
  EXPECT_NE(read(kTenancy, kFingerprint, "no key").error().message.find("cloud4_private_key"),
            std::string::npos);
}

TEST(OciCredentials, TellWhenTheFingerprintIsAnotherKeys) {
  auto other = read(kTenancy, "00:61:a2:21:67:e0:df:be:7e:4b:93:1e:15:98:a5:b7", key_text());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Code::invalid);
  EXPECT_NE(other.error().message.find(kFingerprint), std::string::npos);
}

}  // namespace
}  // namespace dash::storage::oci
