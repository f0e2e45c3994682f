#include "core/storage/store/s3/sign.hpp"

#include <gtest/gtest.h>

#include "core/base/file.hpp"
#include "core/base/json.hpp"
#include "core/crypto/hash.hpp"
#include "tests/support/must.hpp"

namespace dash::storage::s3 {
namespace {

// Signs one published example and returns the signature alone.
std::string sign_example(const Json& group, const Json& example) {
  auto now = must(parse_iso(group["time"].get<std::string>()));
  auto hash = crypto::to_hex(crypto::sha256(example.value("body", "")));
  net::Headers headers;
  headers.add("Host", group["host"]);
  headers.add("X-Amz-Date", amz_date(now));
  if (group["service"] == "s3") headers.add("x-amz-content-sha256", hash);
  for (const auto& [name, value] : example["headers"].items()) headers.add(name, value);
  Query query;
  for (const auto& pair : example["query"]) query.emplace_back(pair[0], pair[1]);
  auto canonical = canonical_query(query);
  std::string method = example["method"];
  std::string path = example["path"];
  Credentials credentials{group["access_key_id"], Secret(group["secret_access_key"].get<std::string>())};
  auto value = authorization(credentials, {group["region"], group["service"]},
                             {method, path, canonical, headers, hash}, now);
  return value.substr(value.rfind('=') + 1);
}

TEST(SigV4, SignsThePublishedExamplesAsPublished) {
  auto vectors = must(parse_json(must(read_file(DASH_TESTDATA "/sigv4/vectors.json", 1 << 20))));
  for (const auto* group : {"suite", "s3"})
    for (const auto& example : vectors[group]["cases"])
      EXPECT_EQ(sign_example(vectors[group], example), example["signature"].get<std::string>())
          << example["name"];
}

// Requests for which libcurl's own signer is wrong; an independent server verified the expected ones.
TEST(SigV4, SendsTheQueryInTheOrderAndEncodingThatItSigns) {
  EXPECT_EQ(canonical_query({{"prefix", "a/b c+d"}, {"list-type", "2"}}), "list-type=2&prefix=a%2Fb%20c%2Bd");
  EXPECT_EQ(canonical_query({{"uploads", ""}}), "uploads=");
  EXPECT_EQ(canonical_query({{"uploadId", "x=="}, {"partNumber", "1"}}), "partNumber=1&uploadId=x%3D%3D");
  EXPECT_EQ(canonical_query({}), "");
}

TEST(SigV4, CanonicalRequestListsHeadersSortedAndFolded) {
  net::Headers headers{{"X-B", " two   words "}, {"host", "h"}};
  EXPECT_EQ(canonical_request({"GET", "/b/a%20b", "", headers, "HASH"}),
            "GET\n/b/a%20b\n\nhost:h\nx-b:two words\n\nhost;x-b\nHASH");
}

}  // namespace
}  // namespace dash::storage::s3
