#include "core/migrate/export.hpp"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.hpp"
#include "tests/support/must.hpp"

namespace dash::migrate {
namespace {

ExportResult export_of(const config::Values& values, bool include_on_prem = false,
                       std::vector<setup::FullWebhook> rows = {}) {
  return must(
      make_bundle(values, std::move(rows), {"https://a.example", "http", include_on_prem}, FakeClock()));
}

TEST(Export, HoldsBackWithTheReasonAndAnnotatesWhatItCarries) {
  auto made = export_of({{"vsphere_host", "h"},
                         {"k8s_kubeconfig_1", "k"},
                         {"log_dir", "/x"},
                         {"epml_pat", "clear"},
                         {"wlc_aws_secret_name", "n"},
                         {"oidc_client_secret", "bt_safe://f/x"}});
  EXPECT_EQ(made.bundle.excluded, (std::map<std::string, std::string>{{"vsphere_host", "on_prem"},
                                                                      {"k8s_kubeconfig_1", "runtime_handle"},
                                                                      {"log_dir", "local_path"}}));
  EXPECT_EQ(made.bundle.annotations["wlc_aws_secret_name"], (Annotation{false, true, false}));
  EXPECT_EQ(made.bundle.annotations["oidc_client_secret"], (Annotation{true, true, false}));
  EXPECT_EQ(made.findings.in_clear, std::vector<std::string>{"epml_pat"});
}

TEST(Export, ReleasesOnPremisesTargetsOnDemandButNoHostPath) {
  auto made = export_of({{"vsphere_host", "h"}, {"storage_local_path", "/srv"}}, true);
  EXPECT_TRUE(made.bundle.config.contains("vsphere_host"));
  EXPECT_EQ(made.bundle.excluded["storage_local_path"], "local_path");
}

TEST(Export, NamesRegionSetsThatCannotBeRead) {
  auto made = export_of({{"cloud1_region_configs", "{broken"}, {"cloud3_region_configs", "{}"}, {"a", "1"}});
  EXPECT_EQ(made.findings.malformed, std::vector<std::string>{"cloud1_region_configs"});
  EXPECT_EQ(made.bundle.excluded["cloud1_region_configs"], "malformed_region_set");
  EXPECT_TRUE(made.bundle.regions.empty());
}

TEST(Export, NeverMakesABundleOfCiphertext) {
  std::string sealed =
      "gAAAAABrAR55N-d3j4RaA3_nebzSetdKiYcxXCWFM04GCYWae9OtAoZU_lEWpt85QdPS18eRx26eqzIruBCJ6bM_eIUA6ZpKmg==";
  auto result = make_bundle({{"cloud1_default_region", sealed}, {"a", "1"}}, {}, {}, FakeClock());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::integrity);
  EXPECT_NE(result.error().message.find("cloud1_default_region"), std::string::npos);
  EXPECT_EQ(result.error().message.find(sealed), std::string::npos);
}

}  // namespace
}  // namespace dash::migrate
