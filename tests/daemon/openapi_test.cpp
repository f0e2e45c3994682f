#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

#include "core/app/application.hpp"
#include "core/base/embedded.hpp"
#include "daemon/routes/doctor_route.hpp"
#include "daemon/routes/routes.hpp"
#include "daemon/server/health_routes.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::daemon {
namespace {

const std::set<std::string> kMethods = {"get", "put", "post", "patch", "delete"};

YAML::Node description() { return YAML::Load(std::string(embedded("daemon/openapi.yaml").value())); }

// "GET /api/x/{id}", a rest {name...} written {name} as OpenAPI has no other way.
std::set<std::string> served() {
  Scratch scratch;
  app::Options options;
  options.data_dir = scratch / "data";
  auto instance = must(app::open_instance(options));
  auto routes = all_routes(instance->application());
  app::Doctor doctor(instance->application(), options);
  routes.push_back(doctor_route(doctor));
  Readiness readiness({});
  add_health_routes(routes, readiness, {});
  std::set<std::string> rows;
  for (const auto& route : routes) {
    auto pattern = route.pattern;
    if (auto dots = pattern.find("...}"); dots != pattern.npos) pattern.erase(dots, 3);
    rows.insert(route.method + " " + pattern);
  }
  return rows;
}

std::set<std::string> described() {
  std::set<std::string> rows;
  for (const auto& path : description()["paths"])
    for (const auto& operation : path.second) {
      auto method = operation.first.as<std::string>();
      if (!kMethods.contains(method)) continue;
      std::transform(method.begin(), method.end(), method.begin(),
                     [](unsigned char c) { return std::toupper(c); });
      rows.insert(method + " " + path.first.as<std::string>());
    }
  return rows;
}

std::string without(const std::set<std::string>& these, const std::set<std::string>& those) {
  std::string lines;
  for (const auto& row : these)
    if (!those.contains(row)) lines += "\n  " + row;
  return lines;
}

TEST(OpenApi, DescribesEveryRouteAndNoOther) {
  EXPECT_EQ(without(served(), described()), "") << "routes that daemon/openapi.yaml does not describe";
  EXPECT_EQ(without(described(), served()), "") << "described, but no such route";
}

// Collects every $ref below a node.
void collect_references(const YAML::Node& node, std::set<std::string>& into) {
  if (node.IsMap())
    for (const auto& member : node) {
      if (member.first.as<std::string>() == "$ref") into.insert(member.second.as<std::string>());
      collect_references(member.second, into);
    }
  if (node.IsSequence())
    for (const auto& item : node) collect_references(item, into);
}

TEST(OpenApi, EveryReferenceLeadsSomewhere) {
  auto document = description();
  std::set<std::string> references;
  collect_references(document, references);
  EXPECT_FALSE(references.empty());
  for (const auto& reference : references) {
    auto parts = reference.substr(std::string("#/components/").size());
    auto slash = parts.find('/');
    EXPECT_TRUE(document["components"][parts.substr(0, slash)][parts.substr(slash + 1)]) << reference;
  }
}

TEST(OpenApi, EveryOperationSaysWhatItDoesAndNamesItsPathParameters) {
  auto document = description();
  for (const auto& path : document["paths"]) {
    auto name = path.first.as<std::string>();
    bool is_open = name.find('{') != name.npos;
    for (const auto& operation : path.second) {
      if (!kMethods.contains(operation.first.as<std::string>())) continue;
      EXPECT_TRUE(operation.second["summary"]) << name;
      EXPECT_TRUE(operation.second["responses"]) << name;
      bool names_them = path.second["parameters"].IsDefined() || operation.second["parameters"].IsDefined();
      EXPECT_TRUE(names_them || !is_open) << name;
    }
  }
}

}  // namespace
}  // namespace dash::daemon
