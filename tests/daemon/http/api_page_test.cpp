#include "daemon/http/api_page.hpp"

#include <gtest/gtest.h>

#include "daemon/http/api_description.hpp"

namespace dash::daemon {
namespace {

TEST(ApiPage, HasEveryOperationAndSchema) {
  auto page = render_api_page(api_description());
  for (const auto& [path, item] : api_description().at("paths").items())
    for (const auto& [method, operation] : item.items()) {
      if (method == "parameters") continue;
      EXPECT_NE(page.find(method + "-" + path), std::string::npos) << method << " " << path;
    }
  for (const auto& [name, schema] : api_description().at("components").at("schemas").items())
    EXPECT_NE(page.find("schema-" + name), std::string::npos) << name;
}

TEST(ApiPage, NeedsNoScriptAndNoOtherHost) {
  auto page = render_api_page(api_description());
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("style=\""), std::string::npos);
  EXPECT_EQ(page.find("src=\"http"), std::string::npos);
  EXPECT_EQ(page.find("href=\"http"), std::string::npos);
}

TEST(ApiPage, ShowsTheDocumentAsText) {
  auto document = api_description();
  document["info"]["description"] = "<script>alert(1)</script>";
  auto page = render_api_page(document);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(1)"), std::string::npos);
}

}  // namespace
}  // namespace dash::daemon
