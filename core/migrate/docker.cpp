#include "core/migrate/docker.hpp"

#include "core/config/clouds.hpp"
#include "core/migrate/bundle/bundle.hpp"
#include "core/setup/import_body.hpp"

namespace dash::migrate {
namespace {

// Shells and docker say so when the program to run is not there (docker-exec(1), POSIX sh).
constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;
constexpr std::size_t kShownStderr = 2000;

// The module with which the peer dumps its own store; prints {"config": {…}, "notification_endpoints": […]}.
constexpr std::string_view kPeerModule = "web_dashboard.scripts.config_migrate";

// One past the brace that closes the object at the front of `text`, 0 when it is cut.
std::size_t end_of_object(std::string_view text) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return 0;
}

std::vector<std::string> exec_words(const ContainerOrder& order) {
  if (!order.container.empty()) return {"docker", "exec", order.container};
  std::vector<std::string> words{"docker", "compose"};
  if (!order.compose_file.empty()) words.insert(words.end(), {"-f", order.compose_file});
  words.insert(words.end(), {"exec", "-T", order.service});
  return words;
}

std::vector<std::string> own_export(const ContainerOrder& order) {
  std::vector<std::string> words{"dashctl", "migrate", "export", "--out", "-"};
  if (!order.data_dir.empty()) words.insert(words.end(), {"--data-dir", order.data_dir});
  if (order.include_on_prem) words.emplace_back("--include-on-prem");
  return words;
}

std::string name_of(const ContainerOrder& order) {
  return order.container.empty() ? "the compose service " + order.service
                                 : "the container " + order.container;
}

Failure failed(const ContainerOrder& order, const net::Output& output) {
  auto told = output.err.substr(0, kShownStderr);
  while (told.ends_with('\n')) told.pop_back();
  // dashctl inside tells by its exit code that the key does not open the store.
  auto code = output.exit.code == info(Code::integrity).exit_code ? Code::integrity : Code::unreachable;
  return fail(code, "the export in {} failed ({}): {}", name_of(order), output.exit.text(),
              told.empty() ? "it said nothing" : told);
}

Result<ContainerAnswer> from_bundle(const Json& document, std::size_t noise, const ContainerOrder& order) {
  auto bundle = TRY(parse_bundle(dump_json(document), "the export of " + name_of(order)));
  ContainerAnswer answer{std::move(bundle.config), std::move(bundle.endpoints), std::move(bundle.excluded),
                         "dashctl", noise};
  for (const auto& [cloud, map] : bundle.regions)
    answer.values[config::region_blob_key(cloud)] = config::write_region_blob(map);
  return answer;
}

Result<ContainerAnswer> from_peer(const Json& document, std::size_t noise) {
  ContainerAnswer answer;
  answer.asked = "the peer's export";
  answer.noise_bytes = noise;
  for (const auto& [name, value] : document["config"].items()) {
    if (value.is_null()) continue;
    auto key = config::has_region_prefix(name) ? name : config::canonical_key(name);
    answer.values[key] = config::canonical_value(key, setup::setting_text(value));
  }
  auto rows = document.value("notification_endpoints", Json::array());
  for (const auto& row : rows) {
    auto input = TRY(setup::endpoint_input(row));
    setup::FullEndpoint full{input.name.value_or(""),
                             input.url.value_or(Secret()),
                             input.fmt.value_or("custom"),
                             input.secret.value_or(Secret()),
                             input.event_types.value_or(std::nullopt),
                             input.enabled.value_or(true)};
    if (full.name.empty()) full.name = full.fmt;
    answer.endpoints.push_back(std::move(full));
  }
  return answer;
}

}  // namespace

std::optional<Extracted> extract_document(std::string_view out) {
  for (std::size_t at = 0; at < out.size();) {
    auto line_end = out.find('\n', at);
    if (out[at] == '{') {
      if (auto size = end_of_object(out.substr(at)); size > 0) {
        auto json = parse_json(out.substr(at, size));
        if (json && json->contains("config") && (*json)["config"].is_object())
          return Extracted{*std::move(json), out.size() - size};
      }
    }
    if (line_end == out.npos) break;
    at = line_end + 1;
  }
  return std::nullopt;
}

Result<ContainerAnswer> ask_container(const RunDocker& run, const ContainerOrder& order) {
  std::vector<std::vector<std::string>> programs{own_export(order)};
  for (auto python : {"python", "python3"})
    programs.push_back({python, "-m", std::string(kPeerModule), "export-local"});
  for (std::size_t i = 0; i < programs.size(); ++i) {
    auto words = exec_words(order);
    words.insert(words.end(), programs[i].begin(), programs[i].end());
    auto output = TRY(run(words));
    if (output.exit.code == kCannotRun || output.exit.code == kNotFound) continue;
    if (!output.exit.ok()) return failed(order, output);
    auto found = extract_document(output.out);
    if (!found)
      return fail(Code::integrity, "{} answered {} bytes in which there is no configuration", name_of(order),
                  output.out.size());
    return i == 0 ? from_bundle(found->document, found->noise_bytes, order)
                  : from_peer(found->document, found->noise_bytes);
  }
  return fail(Code::unsupported, "{} has neither dashctl nor the dashboard's own export (python -m {})",
              name_of(order), kPeerModule);
}

}  // namespace dash::migrate
