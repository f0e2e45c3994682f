#include "core/setup/webhooks.hpp"

#include <gtest/gtest.h>

#include "tests/support/instance.hpp"

namespace dash::setup {
namespace {

TEST(Webhooks, KeepUrlAndSecretSealedAndShowAHintOnly) {
  TestInstance i;
  i.add_user("root", true);
  auto root = i.as("root");
  WebhookInput input;
  input.name = "ops";
  input.url = Secret("https://hooks.example.com/T000/secret-path");
  input.secret = Secret("hmac-secret");
  auto made = must(i.webhooks.add(root, input));
  EXPECT_EQ(made.url_hint, "https://hooks.example.com/…");
  EXPECT_TRUE(made.has_secret);
  auto all = must(i.webhooks.export_all(root));
  EXPECT_EQ(all[0].url.expose(), "https://hooks.example.com/T000/secret-path");
  WebhookInput patch;
  patch.secret = Secret("");
  patch.url = Secret("");
  EXPECT_FALSE(must(i.webhooks.change(root, made.id, patch)).has_secret);
  EXPECT_EQ(must(i.webhooks.export_all(root))[0].url.expose(), "https://hooks.example.com/T000/secret-path");
  EXPECT_EQ(i.webhooks.change(root, "unknown", patch).error().code, Code::not_found);
}

TEST(Webhooks, RefuseBadUrlsFormatsAndTheTwentyFirst) {
  TestInstance i;
  i.add_user("root", true);
  auto root = i.as("root");
  auto add = [&](std::string url, std::string fmt) {
    WebhookInput input;
    input.url = Secret(std::move(url));
    input.fmt = std::move(fmt);
    return i.webhooks.add(root, input);
  };
  EXPECT_EQ(add("ftp://x", "slack").error().message, "The webhook URL must start with http:// or https://");
  EXPECT_EQ(add("", "slack").error().code, Code::invalid);
  EXPECT_EQ(add("https://x/", "x").error().message,
            "Unknown format 'x'. Expected one of: custom, slack, teams.");
  for (int n = 0; n < 20; ++n) EXPECT_EQ(must(add("https://x/", "slack")).name, "slack");
  EXPECT_EQ(add("https://x/", "slack").error().code, Code::invalid);
}

TEST(Webhooks, RefuseControlCharactersAndAUserInTheUrl) {
  using namespace std::string_literals;
  TestInstance i;
  i.add_user("root", true);
  auto root = i.as("root");
  auto input = [](std::string url) {
    WebhookInput out;
    out.url = Secret(std::move(url));
    return out;
  };
  auto made = must(i.webhooks.add(root, input("https://hooks.example/a")));
  for (const auto& url :
       {"https://hooks.example/a\r\nHost: x"s, "https://hooks.example/\0"s, "https://hooks.example\t/"s,
        "https://hooks.example/\x7f"s, "https://hooks.example/\xc2\x85"s, "http://ann:pw@hooks.example/"s,
        "https://ann@hooks.example"s, "https://@hooks.example/"s, "https://hooks.example\\@10.0.0.1/"s,
        "https://ann@hooks.example?x"s}) {
    EXPECT_EQ(i.webhooks.add(root, input(url)).error().code, Code::validation) << url;
    EXPECT_EQ(i.webhooks.change(root, made.id, input(url)).error().code, Code::validation) << url;
  }
  WebhookInput other;
  other.name = "a\nb";
  EXPECT_EQ(i.webhooks.change(root, made.id, other).error().code, Code::validation);
  other = {};
  other.event_types = "job.failed\0"s;
  EXPECT_EQ(i.webhooks.change(root, made.id, other).error().code, Code::validation);
  for (const auto* url : {"https://hooks.example/@team?to=a@b.example#@", "https://hooks.example:8443",
                          "http://[::1]/\xc3\xa9"})
    EXPECT_TRUE(i.webhooks.change(root, made.id, input(url))) << url;
}

}  // namespace
}  // namespace dash::setup
