#include "core/storage/store/azure_blob/sign.hpp"

#include <gtest/gtest.h>

#include "core/crypto/hash.hpp"
#include "tests/support/must.hpp"

namespace dash::storage::azure_blob {
namespace {

AccountKey account_key() { return must(read_account_key("myaccount", Secret(crypto::to_base64("key")))); }

// The vendor's page "Authorize with Shared Key": the example of Get Container Metadata.
RequestToSign get_container_metadata() {
  RequestToSign request{
      "GET", "/mycontainer", {{"restype", "container"}, {"comp", "metadata"}, {"timeout", "20"}}, {}, 0};
  request.headers = {{"x-ms-version", "2015-02-21"}, {"x-ms-date", "Fri, 26 Jun 2015 23:39:12 GMT"}};
  return request;
}

TEST(SharedKey, SignsTheTextOfTheVendorsExample) {
  EXPECT_EQ(string_to_sign("myaccount", get_container_metadata()),
            "GET\n\n\n\n\n\n\n\n\n\n\n\n"
            "x-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\nx-ms-version:2015-02-21\n"
            "/myaccount/mycontainer\ncomp:metadata\nrestype:container\ntimeout:20");
}

TEST(SharedKey, PutsEveryHeaderOnItsLineAndEveryBodyUnderItsLength) {
  RequestToSign request{"PUT", "/c/a%20b", {{"blockid", "QQ=="}, {"Comp", "block"}}, {}, 1024};
  request.headers = {{"Content-MD5", "md5"},  {"Content-Type", "text/plain"}, {"If-Match", "e1"},
                     {"If-None-Match", "e2"}, {"Range", "bytes=0-1"},         {"X-Ms-Meta-B", " two "},
                     {"x-ms-meta-a", "one"}};
  EXPECT_EQ(string_to_sign("acct", request),
            "PUT\n\n\n1024\nmd5\ntext/plain\n\n\ne1\ne2\n\nbytes=0-1\n"
            "x-ms-meta-a:one\nx-ms-meta-b:two\n/acct/c/a%20b\nblockid:QQ==\ncomp:block");
}

TEST(SharedKey, HasTheAccountTwiceWhereThePathBeginsWithIt) {
  RequestToSign request{"GET", "/acct/c/x", {}, {}, 0};
  EXPECT_TRUE(string_to_sign("acct", request).ends_with("\n/acct/acct/c/x"));
}

TEST(SharedKey, IsAnHmacUnderTheDecodedKey) {
  auto mac = crypto::hmac_sha256("key", string_to_sign("myaccount", get_container_metadata()));
  EXPECT_EQ(shared_key(account_key(), get_container_metadata()),
            "SharedKey myaccount:" + crypto::to_base64(mac));
}

TEST(SharedKey, NamesTheSettingOfABadKeyAndNotTheKey) {
  auto bad = read_account_key("myaccount", Secret("hunter2!"));
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("storage_obj_cloud2_account_key"), std::string::npos);
  EXPECT_EQ(bad.error().message.find("hunter2"), std::string::npos);
}

TEST(ServicePrincipal, AsksItsTenantAtThePublicCloudUnlessTold) {
  auto read = [](std::string_view authority) {
    return must(read_service_principal(authority, "t-1", "c-1", Secret("s"))).token_url;
  };
  EXPECT_EQ(read(""), "https://login.microsoftonline.com/t-1/oauth2/v2.0/token");
  EXPECT_EQ(read("login.chinacloudapi.cn/"), "https://login.chinacloudapi.cn/t-1/oauth2/v2.0/token");
  EXPECT_EQ(read("http://127.0.0.1:8080"), "http://127.0.0.1:8080/t-1/oauth2/v2.0/token");
}

TEST(ServicePrincipal, SendsTheClientCredentialsGrant) {
  auto principal = must(read_service_principal("", "t-1", "c-1", Secret("a&b")));
  EXPECT_EQ(
      token_request(principal).expose(),
      "grant_type=client_credentials&client_id=c-1&client_secret=a%26b&scope=https%3A%2F%2Fstorage.azure.com"
      "%2F.default");
}

TEST(ServicePrincipal, NamesTheSettingThatIsMissing) {
  EXPECT_NE(read_service_principal("", "", "c", Secret("s")).error().message.find("cloud2_tenant_id is"),
            std::string::npos);
  EXPECT_NE(read_service_principal("", "t", " ", Secret("s")).error().message.find("cloud2_client_id is"),
            std::string::npos);
  EXPECT_NE(read_service_principal("", "t", "c", Secret()).error().message.find("cloud2_client_secret is"),
            std::string::npos);
}

}  // namespace
}  // namespace dash::storage::azure_blob
