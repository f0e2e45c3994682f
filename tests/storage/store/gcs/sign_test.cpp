#include "core/storage/store/gcs/sign.hpp"

#include <gtest/gtest.h>

#include "core/base/file.hpp"
#include "core/base/json.hpp"
#include "core/crypto/hash.hpp"
#include "tests/support/must.hpp"

namespace dash::storage::gcs {
namespace {

std::string key_file(const char* without = "", const char* type = "service_account") {
  auto pem = must(read_file(DASH_TESTDATA "/oci/draft_cavage_key.pem", 1 << 16));
  Json json{{"type", type},
            {"private_key", pem},
            {"private_key_id", "k1"},
            {"client_email", "sa@p.iam.gserviceaccount.com"},
            {"token_uri", "https://oauth2.googleapis.com/token"}};
  json.erase(without);
  return dump_json(json);
}

TEST(ServiceAccount, SignsTheClaimsThatGoogleAsksFor) {
  auto account = must(read_service_account(Secret(key_file())));
  auto token = sign_assertion(account, must(parse_iso("2026-07-03T14:00:00Z")));
  auto first = token.find('.'), second = token.rfind('.');
  EXPECT_EQ(*crypto::from_base64url(token.substr(0, first)), R"({"alg":"RS256","typ":"JWT","kid":"k1"})");
  EXPECT_EQ(
      *crypto::from_base64url(token.substr(first + 1, second - first - 1)),
      R"({"iss":"sa@p.iam.gserviceaccount.com","scope":"https://www.googleapis.com/auth/devstorage.read_write",)"
      R"("aud":"https://oauth2.googleapis.com/token","iat":1783087200,"exp":1783090800})");
  EXPECT_EQ(*crypto::from_base64url(token.substr(second + 1)),
            account.key.sign_sha256(token.substr(0, second)));
}

TEST(ServiceAccount, AsksWithTheJwtBearerGrant) {
  EXPECT_EQ(token_request("a.b.c"),
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=a.b.c");
}

TEST(ServiceAccount, NamesTheSettingAndTheMemberThatIsWrong) {
  auto message = [](const std::string& text) { return read_service_account(Secret(text)).error().message; };
  for (auto text : {std::string(), std::string("not json"), key_file("client_email"), key_file("token_uri"),
                    key_file("private_key"), key_file("", "authorized_user")})
    EXPECT_NE(message(text).find("cloud3_service_account_json"), std::string::npos) << text;
  EXPECT_NE(message(key_file("token_uri")).find("token_uri"), std::string::npos);
  EXPECT_NE(message(key_file("", "authorized_user")).find("authorized_user"), std::string::npos);
}

}  // namespace
}  // namespace dash::storage::gcs
