#include "daemon/http/api_description.hpp"

#include <gtest/gtest.h>

namespace dash::daemon {
namespace {

TEST(ApiDescription, IsJsonWithItsNumbersAsText) {
  const auto& document = api_description();
  EXPECT_EQ(document.at("openapi"), "3.1.0");
  EXPECT_TRUE(document.at("paths").at("/livez").at("get").at("responses").contains("200"));
  EXPECT_EQ(parse_json(api_description_text()).value().at("info").at("title"), "dashctl");
}

TEST(ApiDescription, DescribesBothSpellingsOfACloudTheSame) {
  const auto& paths = api_description().at("paths");
  EXPECT_EQ(paths.at("/api/aws/deploy"), paths.at("/api/cloud1/deploy"));
}

TEST(ApiDescription, FollowsReferences) {
  EXPECT_EQ(resolve({{"$ref", "#/components/schemas/Vault"}}).at("type"), "object");
  OrderedJson plain{{"type", "string"}};
  EXPECT_EQ(resolve(plain), plain);
}

// Every operation has a real schema for what it takes and gives, and says which errors it can give.
TEST(ApiDescription, HasNoShapelessObject) {
  auto is_shapeless = [](const OrderedJson& media) {
    const auto written = media.value("schema", OrderedJson::object());
    const auto& schema = resolve(written);
    auto type = schema.value("type", OrderedJson());
    return schema.empty() ||
           (type == "object" && !schema.contains("properties") && !schema.contains("additionalProperties"));
  };
  for (const auto& [path, item] : api_description().at("paths").items())
    for (const auto& [method, operation] : item.items()) {
      if (method == "parameters") continue;
      auto contents = std::vector{operation.contains("requestBody") ? resolve(operation.at("requestBody"))
                                                                    : OrderedJson::object()};
      for (const auto& [status, response] : operation.at("responses").items())
        contents.push_back(resolve(response));
      for (const auto& content : contents) {
        if (!content.contains("content")) continue;
        for (const auto& [type, media] : content.at("content").items())
          EXPECT_FALSE(is_shapeless(media)) << method << " " << path << " " << type;
      }
    }
}

}  // namespace
}  // namespace dash::daemon
