#include "core/agent/protocol/request_signature.hpp"

#include <gtest/gtest.h>

#include "tests/agent/protocol/vectors.hpp"

namespace dash::agent {
namespace {

struct Example {
  RequestToSign request;
  std::string body, public_key, signature;
};

Example example_of(const Json& vector) {
  const auto& headers = vector["headers"];
  return {{vector["aud"], vector["id"], vector["method"], vector["path"], vector["nonce"], vector["ts"]},
          vector["body"],
          vectors()["keys"]["agent_public"],
          headers[std::string(kSignatureHeader)]};
}

bool verifies(const Example& example) {
  return is_signed_by(example.public_key, example.request, crypto::to_hex(crypto::sha256(example.body)),
                      example.signature);
}

TEST(RequestSignature, SignsTheVectorsByteForByte) {
  auto key = crypto::ed25519_from_seed(Secret(hex_bytes(vectors()["keys"]["agent_ed25519_seed_hex"])));
  for (const auto& vector : vectors()["request_signature"]) {
    auto example = example_of(vector);
    EXPECT_EQ(request_message(example.request, vector["body_sha256_hex"].get<std::string>()),
              vector["message"].get<std::string>())
        << vector["name"];
    EXPECT_EQ(sign_request(key, example.request, example.body), example.signature) << vector["name"];
    EXPECT_TRUE(verifies(example)) << vector["name"];
  }
}

void change(Example& example, const Json& changes) {
  auto set = [&](const char* name, std::string& value) {
    if (auto it = changes.find(name); it != changes.end()) value = it->get<std::string>();
  };
  set("aud", example.request.audience);
  set("id", example.request.agent_id);
  set("path", example.request.path);
  set("method", example.request.method);
  set("nonce", example.request.nonce);
  set("ts", example.request.timestamp);
  set("body", example.body);
  set("public", example.public_key);
  set("signature", example.signature);
}

TEST(RequestSignature, AcceptsAndRefusesAsTheVectorsSay) {
  for (const auto& vector : vectors()["request_verify"]) {
    Example example;
    for (const auto& of : vectors()["request_signature"])
      if (of["name"] == vector["of"]) example = example_of(of);
    change(example, vector["changed"]);
    auto now = from_micros(static_cast<std::int64_t>(vector["now"].get<double>() * 1e6));
    EXPECT_EQ(verifies(example) && is_fresh(example.request.timestamp, now), vector["accepted"].get<bool>())
        << vector["name"];
  }
}

TEST(RequestSignature, TakesNoHugeTimeForAFreshOne) {
  EXPECT_FALSE(is_fresh("9223372036854775807", from_micros(0)));
  EXPECT_FALSE(is_fresh("", from_micros(0)));
  EXPECT_TRUE(is_fresh("60", from_micros(0)));
}

}  // namespace
}  // namespace dash::agent
