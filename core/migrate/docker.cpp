#include "core/migrate/docker.hpp"

#include "core/config/clouds.hpp"
#include "core/migrate/bundle/bundle.hpp"
#include "core/setup/import_body.hpp"

namespace dash::migrate {
namespace {

// Exit statuses of shells and docker for a program that is missing (docker-exec(1), POSIX sh).
constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;
constexpr std::size_t kShownStderr = 2000;

// The module with which a Python dashboard dumps its own store. It prints
//   {"config": {…}, "notification_endpoints": […]}
constexpr std::string_view kPeerModule = "web_dashboard.scripts.config_migrate";

// Returns one past the brace that closes the object at the front of `text`, 0 when it is cut.
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

std::vector<std::string> exec_command(const ContainerExportOptions& options) {
  if (!options.container.empty()) return {"docker", "exec", options.container};
  std::vector<std::string> words{"docker", "compose"};
  if (!options.compose_file.empty()) words.insert(words.end(), {"-f", options.compose_file});
  words.insert(words.end(), {"exec", "-T", options.service});
  return words;
}

std::vector<std::string> dashctl_export_command(const ContainerExportOptions& options) {
  std::vector<std::string> words{"dashctl", "migrate", "export", "--out", "-"};
  if (!options.data_dir.empty()) words.insert(words.end(), {"--data-dir", options.data_dir});
  if (options.include_on_prem) words.emplace_back("--include-on-prem");
  return words;
}

std::string name_of(const ContainerExportOptions& options) {
  return options.container.empty() ? "the compose service " + options.service
                                   : "the container " + options.container;
}

Failure export_failed(const ContainerExportOptions& options, const net::ProcessResult& output) {
  auto stderr_text = output.err.substr(0, kShownStderr);
  while (stderr_text.ends_with('\n')) stderr_text.pop_back();
  // dashctl inside of the container has this exit code when the key does not open the store.
  auto code = output.exit.code == info(Code::integrity).exit_code ? Code::integrity : Code::unreachable;
  return fail(code, "the export in {} failed ({}): {}", name_of(options), output.exit.text(),
              stderr_text.empty() ? "it printed nothing" : stderr_text);
}

Result<ContainerExportResult> from_bundle(const Json& document, std::size_t noise,
                                          const ContainerExportOptions& options) {
  auto bundle = TRY(parse_bundle(dump_json(document), "the export of " + name_of(options)));
  ContainerExportResult answer{std::move(bundle.config), std::move(bundle.webhooks),
                               std::move(bundle.excluded), "dashctl", noise};
  for (const auto& [cloud, map] : bundle.regions)
    answer.values[config::region_blob_key(cloud)] = config::write_region_blob(map);
  return answer;
}

Result<ContainerExportResult> from_peer(const Json& document, std::size_t noise) {
  ContainerExportResult answer;
  answer.exporter = "the dashboard's own export";
  answer.noise_bytes = noise;
  for (const auto& [name, value] : document["config"].items()) {
    if (value.is_null()) continue;
    auto key = config::has_region_prefix(name) ? name : config::canonical_key(name);
    answer.values[key] = config::canonical_value(key, setup::setting_text(value));
  }
  auto rows = document.value("notification_endpoints", Json::array());
  for (const auto& row : rows) {
    auto input = TRY(setup::read_webhook_input(row));
    setup::FullWebhook full{input.name.value_or(""),
                            input.url.value_or(Secret()),
                            input.fmt.value_or("custom"),
                            input.secret.value_or(Secret()),
                            input.event_types.value_or(std::nullopt),
                            input.enabled.value_or(true)};
    if (full.name.empty()) full.name = full.fmt;
    answer.webhooks.push_back(std::move(full));
  }
  return answer;
}

}  // namespace

std::optional<ExtractResult> extract_document(std::string_view out) {
  for (std::size_t at = 0; at < out.size();) {
    auto line_end = out.find('\n', at);
    if (out[at] == '{') {
      if (auto size = end_of_object(out.substr(at)); size > 0) {
        auto json = parse_json(out.substr(at, size));
        if (json && json->contains("config") && (*json)["config"].is_object())
          return ExtractResult{*std::move(json), out.size() - size};
      }
    }
    if (line_end == out.npos) break;
    at = line_end + 1;
  }
  return std::nullopt;
}

Result<ContainerExportResult> export_from_container(const RunDocker& run,
                                                    const ContainerExportOptions& options) {
  std::vector<std::vector<std::string>> programs{dashctl_export_command(options)};
  for (auto python : {"python", "python3"})
    programs.push_back({python, "-m", std::string(kPeerModule), "export-local"});
  for (std::size_t i = 0; i < programs.size(); ++i) {
    auto words = exec_command(options);
    words.insert(words.end(), programs[i].begin(), programs[i].end());
    auto output = TRY(run(words));
    if (output.exit.code == kCannotRun || output.exit.code == kNotFound) continue;
    if (!output.exit.ok()) return export_failed(options, output);
    auto found = extract_document(output.out);
    if (!found)
      return fail(Code::integrity, "{} answered {} bytes in which there is no configuration",
                  name_of(options), output.out.size());
    return i == 0 ? from_bundle(found->document, found->noise_bytes, options)
                  : from_peer(found->document, found->noise_bytes);
  }
  return fail(Code::unsupported, "{} has neither dashctl nor the dashboard's own export (python -m {})",
              name_of(options), kPeerModule);
}

}  // namespace dash::migrate
