#include "core/agent/remote/settings.hpp"

#include <gtest/gtest.h>

#include <map>

#include "core/base/file.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash::agent {
namespace {

Environment variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> std::optional<std::string> {
    auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
}

TEST(AgentSettings, AreFlagsThenEnvironmentThenDefaults) {
  auto none = must(read_settings({}, variables({})));
  EXPECT_EQ(none.state_folder, "/var/lib/dashboard-agent");
  EXPECT_EQ(none.poll, std::chrono::seconds(5));
  auto deployed = variables({{"DASHBOARD_URL", "https://dash.example/"},
                             {"AGENT_STATE_DIR", "/state"},
                             {"AGENT_MODE", "audit"},
                             {"AGENT_POLL_INTERVAL", "0.5"},
                             {"AGENT_CONNECTIONS_FILE", "/c"}});
  auto read = must(read_settings({}, deployed));
  EXPECT_EQ(read.url, "https://dash.example");
  EXPECT_TRUE(read.is_audit);
  EXPECT_EQ(read.poll, std::chrono::milliseconds(500));
  EXPECT_EQ(read.unused, std::vector<std::string>{"AGENT_CONNECTIONS_FILE"});
  GivenSettings given;
  given.state_folder = "/other";
  given.mode = "normal";
  EXPECT_EQ(must(read_settings(given, deployed)).state_folder, "/other");
  EXPECT_FALSE(must(read_settings(given, deployed)).is_audit);
}

TEST(AgentSettings, NameTheVariableThatIsWrong) {
  auto error_of = [](std::map<std::string, std::string> values) {
    return read_settings({}, variables(std::move(values))).error();
  };
  EXPECT_NE(error_of({{"AGENT_INSECURE_TLS", "0"}}).message.find("AGENT_INSECURE_TLS"), std::string::npos);
  EXPECT_EQ(error_of({{"AGENT_INSECURE_TLS", "1"}}).code, Code::usage);
  EXPECT_NE(error_of({{"AGENT_MODE", "x"}}).message.find("AGENT_MODE"), std::string::npos);
  EXPECT_NE(error_of({{"AGENT_POLL_INTERVAL", "soon"}}).message.find("AGENT_POLL_INTERVAL"),
            std::string::npos);
  EXPECT_NE(error_of({{"AGENT_POLL_INTERVAL", "nan"}}).message.find("AGENT_POLL_INTERVAL"),
            std::string::npos);
}

TEST(EnrolmentCode, IsReadFromAFileAsEditorsWriteIt) {
  EXPECT_EQ(must(read_code("\xef\xbb\xbf"
                           "agte_1\r\n"))
                .expose(),
            "agte_1");
  EXPECT_FALSE(
      read_code(std::string_view("\xff\xfe"
                                 "a\0",
                                 4)));
  EXPECT_FALSE(read_code(" \n"));
}

TEST(EnrolmentCode, IsThatOfTheFileBeforeThatOfTheEnvironment) {
  Scratch scratch;
  must(write_file(scratch / "code", "agte_file\n", 0600));
  auto both =
      variables({{"AGENT_ENROLLMENT_CODE_FILE", scratch / "code"}, {"AGENT_ENROLLMENT_CODE", "agte_text"}});
  EXPECT_EQ(must(load_code(must(read_settings({}, both))))->expose(), "agte_file");
  auto text = variables({{"AGENT_ENROLLMENT_CODE", " agte_text "}});
  EXPECT_EQ(must(load_code(must(read_settings({}, text))))->expose(), "agte_text");
  EXPECT_FALSE(must(load_code(must(read_settings({}, variables({}))))));
}

}  // namespace
}  // namespace dash::agent
