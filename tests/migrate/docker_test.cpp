#include "core/migrate/docker.hpp"

#include <gtest/gtest.h>

#include "core/migrate/bundle/bundle.hpp"
#include "tests/support/must.hpp"

namespace dash::migrate {
namespace {

// Answers as a docker client would, and records the calls.
struct FakeDocker {
  std::map<std::string, net::ProcessResult> by_program;  // "dashctl", "python", …
  std::vector<std::vector<std::string>> asked;
  RunDocker run() {
    return [this](const std::vector<std::string>& words) -> Result<net::ProcessResult> {
      asked.push_back(words);
      for (const auto& [program, output] : by_program)
        if (std::ranges::find(words, program) != words.end()) return output;
      return net::ProcessResult{{127, 0}, "", "executable file not found in $PATH"};
    };
  }
};

constexpr std::string_view kPeer =
    R"({"config":{"aws_secret_access_key":"s3cret","x":true},"notification_endpoints":[{"name":"ops","url":"https://h/x","fmt":"slack","secret":"k","event_types":"","enabled":true}]})";

TEST(ContainerSource, AsksDashctlFirstAndThePeersExportWhereThereIsNone) {
  FakeDocker docker;
  docker.by_program["python3"] = {{0, 0}, std::string(kPeer) + "\n", ""};
  auto answer = must(export_from_container(docker.run(), {.container = "dash"}));
  EXPECT_EQ(answer.values["cloud1_secret_access_key"], "s3cret");
  EXPECT_EQ(answer.values["x"], "1");
  ASSERT_EQ(answer.webhooks.size(), 1u);
  EXPECT_EQ(answer.webhooks[0].url.expose(), "https://h/x");
  ASSERT_EQ(docker.asked.size(), 3u);
  EXPECT_EQ(docker.asked[0], (std::vector<std::string>{"docker", "exec", "dash", "dashctl", "migrate",
                                                       "export", "--out", "-"}));
  EXPECT_EQ(docker.asked[1][3], "python");
}

TEST(ContainerSource, FindsTheContainerByComposeService) {
  FakeDocker docker;
  docker.by_program["python"] = {{0, 0}, std::string(kPeer), ""};
  must(export_from_container(docker.run(), {.compose_file = "/srv/c.yml", .service = "web"}));
  EXPECT_EQ((std::vector<std::string>(docker.asked[0].begin(), docker.asked[0].begin() + 7)),
            (std::vector<std::string>{"docker", "compose", "-f", "/srv/c.yml", "exec", "-T", "web"}));
}

TEST(ContainerSource, ToleratesLogNoiseAndCountsItOnly) {
  FakeDocker docker;
  docker.by_program["python"] = {{0, 0}, "{not json}\nINFO starting\n" + std::string(kPeer) + "\nbye\n", ""};
  auto answer = must(export_from_container(docker.run(), {.container = "c1"}));
  EXPECT_EQ(answer.noise_bytes, std::string_view("{not json}\nINFO starting\n\nbye\n").size());
}

TEST(ContainerSource, NeverShowsStandardOutput) {
  FakeDocker docker;
  docker.by_program["dashctl"] = {{0, 0}, "password=hunter2 and no document", ""};
  auto unreadable = export_from_container(docker.run(), {.container = "c1"}).error();
  EXPECT_EQ(unreadable.code, Code::integrity);
  EXPECT_EQ(unreadable.message.find("hunter2"), std::string::npos);
  docker.by_program["dashctl"] = {{1, 0}, "password=hunter2", "it broke"};
  auto failed = export_from_container(docker.run(), {.container = "c1"}).error();
  EXPECT_EQ(failed.message.find("hunter2"), std::string::npos);
  EXPECT_NE(failed.message.find("it broke"), std::string::npos);
}

TEST(ContainerSource, CarriesAnUnreadableStoreOverAsIntegrity) {
  FakeDocker docker;
  docker.by_program["dashctl"] = {{9, 0}, "", "error: the key does not open 2 of its settings: a, b"};
  auto error = export_from_container(docker.run(), {.container = "c1"}).error();
  EXPECT_EQ(error.code, Code::integrity);
  EXPECT_NE(error.message.find("a, b"), std::string::npos);
}

TEST(ContainerSource, SaysSoWhenTheImageHasNeitherProgram) {
  FakeDocker docker;
  EXPECT_EQ(export_from_container(docker.run(), {.container = "c1"}).error().code, Code::unsupported);
}

}  // namespace
}  // namespace dash::migrate
