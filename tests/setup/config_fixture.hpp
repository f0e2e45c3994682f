// An instance whose admin imports settings.
#pragma once
#include <gtest/gtest.h>

#include "tests/support/instance.hpp"

namespace dash::setup {

class SetupSurface : public testing::Test {
 protected:
  void SetUp() override { i_.add_user("root", true); }
  ImportResult import(std::string_view config, ImportRules rules = {}) {
    return must(i_.config_service.import(i_.as("root"), {must(parse_json(config)), rules, {}, "", {}, {}},
                                         "10.0.0.1"));
  }
  config::Values values() { return must(i_.config.all()); }
  TestInstance i_;
};

}  // namespace dash::setup
