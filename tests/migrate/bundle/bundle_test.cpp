#include "core/migrate/bundle/bundle.hpp"

#include <gtest/gtest.h>

#include "core/migrate/export.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/must.hpp"

namespace dash::migrate {
namespace {

ExportResult export_of(const config::Values& values, bool include_on_prem = false,
                       std::vector<setup::FullWebhook> rows = {}) {
  return must(
      make_bundle(values, std::move(rows), {"https://a.example", "http", include_on_prem}, FakeClock()));
}

TEST(Bundle, ReadsBackAsItWasWritten) {
  setup::FullWebhook row{"ops", Secret("https://h/x"), "slack", Secret("s"), "job.failed", false};
  auto made = export_of({{"cloud1_access_key_id", "A\nB"},
                         {"some", "\"quoted\" é"},
                         {"cloud2_region_configs", R"({"West US 2":{"gallery_name":"g"}})"}},
                        false, {row});
  auto text = write_bundle(made.bundle);
  auto read = must(parse_bundle(text, "b.json"));
  EXPECT_EQ(read.config, made.bundle.config);
  EXPECT_EQ(read.regions, made.bundle.regions);
  EXPECT_EQ(read.annotations, made.bundle.annotations);
  EXPECT_EQ(read.webhooks.at(0).url.expose(), "https://h/x");
  EXPECT_EQ(read.webhooks.at(0).event_types, "job.failed");
  EXPECT_FALSE(read.webhooks.at(0).enabled);
  EXPECT_EQ(read.meta.exported_at, "2026-07-03T14:00:00Z");
  EXPECT_TRUE(read.notes.empty());
  EXPECT_EQ(fingerprint(read, "x"), fingerprint(made.bundle, "x"));
}

// The value was computed by another program: a digest in the files of users must stay the same.
TEST(Bundle, HasTheDigestOfItsSectionsAsSortedJson) {
  auto read = must(parse_bundle(R"({"config":{"b":"é\"x\"","a":"1"},"regions":{"aws":{"r":{"f":"v"}}},
                                    "excluded":{"c":"masked"},"annotations":{"a":{"secret":true}}})",
                                "b.json"));
  EXPECT_EQ(read.digest, "sha256:d179b6b978bf321bf99cdefa2d4c9f876556300970c413fd8837cda3b12ae0b0");
  EXPECT_EQ(digest_of(read), read.digest);
}

TEST(Bundle, CanBeWrittenAsTheToolOfAPythonDashboardWritesIt) {
  auto made = export_of({{"cloud1_access_key_id", "A"},
                         {"storage_active_backend", "obj_cloud1"},
                         {"storage_obj_cloud1_bucket", "b"},
                         {"admission_gated_actions", "cloud1:vm:deploy, cloud4:compute:deploy"},
                         {"cloud2_client_secret", std::string("••••••••")},
                         {"cloud2_region_configs", R"({"West US 2":{"gallery_name":"g"}})"},
                         {"public_base_url", "https://a.example"}});
  auto text = write_bundle(made.bundle, config::NameStyle::provider);
  auto document = must(parse_json(text));
  EXPECT_EQ(document["schema"], 1);
  EXPECT_EQ(document["config"], (Json{{"aws_access_key_id", "A"},
                                      {"storage_active_backend", "s3"},
                                      {"storage_s3_bucket", "b"},
                                      {"admission_gated_actions", "aws:ec2:deploy, oci:compute:deploy"}}));
  EXPECT_EQ(document["regions"], (Json{{"azure", {{"westus2", {{"gallery_name", "g"}}}}}}));
  EXPECT_EQ(document["excluded"]["azure_client_secret"], "masked");
  EXPECT_TRUE(document["annotations"]["aws_access_key_id"].is_object());
  EXPECT_EQ(document["meta"]["exported_at"], "2026-07-03T14:00:00+00:00");
  EXPECT_EQ(document["meta"]["git_commit"], "");
  EXPECT_EQ(document["meta"]["export_method"], "http");
  auto read = must(parse_bundle(text, "b.json"));
  EXPECT_EQ(read.config, made.bundle.config);
  EXPECT_EQ(read.excluded, made.bundle.excluded);
  EXPECT_EQ(read.annotations, made.bundle.annotations);
  EXPECT_TRUE(read.notes.empty());
}

TEST(Bundle, CallsWhatWasReadWhereItLiesDockerInTheProvidersSpelling) {
  Bundle bundle;
  bundle.meta.export_method = "local";
  auto document = must(parse_json(write_bundle(bundle, config::NameStyle::provider)));
  EXPECT_EQ(document["meta"]["export_method"], "docker");
}

TEST(Bundle, HasItsSectionsInOneOrderAndCountsThem) {
  auto text = write_bundle(
      export_of({{"a", "1"}, {"epml_pat", std::string("••••••••")}, {"jwt_secret_key", "k"}}).bundle);
  auto document = OrderedJson::parse(text);
  std::vector<std::string> names;
  for (const auto& [name, value] : document.items()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"schema", "meta", "config", "regions", "notification_endpoints",
                                             "excluded", "annotations"}));
  EXPECT_EQ(document["meta"]["counts"]["portable"], 1);
  EXPECT_EQ(document["meta"]["counts"]["excluded"], 2);
  EXPECT_EQ(document["meta"]["counts"]["masked"], 1);
  EXPECT_EQ(document["excluded"]["epml_pat"], "masked");
  EXPECT_EQ(document["excluded"]["jwt_secret_key"], "instance_local");
  EXPECT_EQ(text.back(), '\n');
}

TEST(Bundle, TellsAnEditAndNotALayout) {
  auto text = write_bundle(export_of({{"a", "1"}, {"b", "2"}}).bundle);
  EXPECT_TRUE(must(parse_bundle(dump_json(must(parse_json(text))), "b")).notes.empty());
  auto edited = text;
  edited.replace(edited.find("\"1\""), 3, "\"9\"");
  EXPECT_EQ(must(parse_bundle(edited, "b")).notes,
            std::vector<std::string>{"it was edited since it was exported"});
}

TEST(Bundle, WithoutAKeyOfItsOwnStillPrintsTheSameFingerprintTwice) {
  auto text = R"({"config":{"a":"1"}})";
  EXPECT_EQ(fingerprint(must(parse_bundle(text, "b")), "1"), fingerprint(must(parse_bundle(text, "b")), "1"));
  EXPECT_NE(fingerprint(must(parse_bundle(text, "b")), "1"),
            fingerprint(must(parse_bundle(R"({"config":{"a":"2"}})", "b")), "1"));
}

TEST(Bundle, FingerprintIsNoPlainDigest) {
  auto bundle = export_of({{"a", "hunter2"}}).bundle;
  EXPECT_NE(fingerprint(bundle, "hunter2"), "f52fbd32");
  EXPECT_EQ(fingerprint(bundle, "hunter2").size(), 8u);
}

TEST(Bundle, CountsCodePoints) {
  EXPECT_EQ(code_points("héllo 😀"), 7u);
  EXPECT_EQ(code_points(""), 0u);
}

}  // namespace
}  // namespace dash::migrate
