#include "core/agent/remote/settings.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "core/agent/remote/dashboard_client.hpp"
#include "core/base/file.hpp"
#include "core/base/text.hpp"

namespace dash::agent {
namespace {

constexpr std::size_t kMaxCodeBytes = 4096;
constexpr double kMinPollSeconds = 0.05, kMaxPollSeconds = 3600;
constexpr const char* kUnusedVariables[] = {"AGENT_CONNECTIONS_FILE", "AGENT_SPIFFE_JWT_FILE",
                                            "AGENT_PS_CLIENT_FILE", "AGENT_DOCKER_SOCKET",
                                            "AGENT_SEAL_EPHEMERAL_KEY_OK"};

class Reader {
 public:
  explicit Reader(const Environment& environment) : environment_(environment) {}

  std::string variable(const char* name) const { return environment_(name).value_or(""); }

  void set(std::string& into, const std::string& given, const char* name) const {
    if (auto text = given.empty() ? variable(name) : given; !text.empty()) into = text;
  }

 private:
  const Environment& environment_;
};

Result<std::chrono::milliseconds> read_poll(const std::string& text) {
  double seconds = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  bool is_number = problem == std::errc() && end == text.data() + text.size() && std::isfinite(seconds);
  if (is_number && seconds >= kMinPollSeconds && seconds <= kMaxPollSeconds)
    return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  return fail(Code::usage, "AGENT_POLL_INTERVAL must be a number of seconds from {} to {}, not '{}'",
              kMinPollSeconds, kMaxPollSeconds, text);
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* text = std::getenv(name);
    return text ? std::optional<std::string>(text) : std::nullopt;
  };
}

Result<Settings> read_settings(const GivenSettings& given, const Environment& environment) {
  Reader reader(environment);
  if (!reader.variable("AGENT_INSECURE_TLS").empty())
    return fail(
        Code::usage,
        "AGENT_INSECURE_TLS is not supported: the dashboard's certificate is always checked. Unset it, and "
        "name the certificate's authority with --ca-bundle or AGENT_CA_BUNDLE");
  Settings out;
  reader.set(out.url, given.url, "DASHBOARD_URL");
  if (!out.url.empty()) out.url = TRY(check_dashboard_url(out.url));
  reader.set(out.code_file, given.code_file, "AGENT_ENROLLMENT_CODE_FILE");
  if (out.code_file.empty()) out.code = Secret(std::string(trim(reader.variable("AGENT_ENROLLMENT_CODE"))));
  reader.set(out.state_folder, given.state_folder, "AGENT_STATE_DIR");
  reader.set(out.policy_file, given.policy_file, "AGENT_POLICY_FILE");
  reader.set(out.shares_file, given.shares_file, "AGENT_SHARES_FILE");
  reader.set(out.ca_bundle, given.ca_bundle, "AGENT_CA_BUNDLE");
  std::string mode = "normal";
  reader.set(mode, given.mode, "AGENT_MODE");
  if (mode != "normal" && mode != "audit")
    return fail(Code::usage, "the mode is 'normal' or 'audit', not '{}' (--mode, AGENT_MODE)", mode);
  out.is_audit = mode == "audit";
  out.is_once = given.is_once;
  if (auto poll = reader.variable("AGENT_POLL_INTERVAL"); !poll.empty()) out.poll = TRY(read_poll(poll));
  for (const auto* name : kUnusedVariables)
    if (!reader.variable(name).empty()) out.unused.emplace_back(name);
  return out;
}

Result<Secret> read_code(std::string_view bytes) {
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff"))
    return fail(Code::usage, "the enrolment code's file is UTF-16; save it as UTF-8");
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  Secret code{std::string(trim(bytes))};
  if (code.empty()) return fail(Code::usage, "the enrolment code's file is empty");
  return code;
}

Result<std::optional<Secret>> load_code(const Settings& settings) {
  if (settings.code_file.empty())
    return settings.code.empty() ? std::nullopt : std::optional<Secret>(settings.code);
  auto bytes = read_file(settings.code_file, kMaxCodeBytes);
  if (!bytes) return fail(Code::usage, "the enrolment code cannot be read: {}", bytes.error().message);
  return TRY(read_code(*bytes));
}

}  // namespace dash::agent
