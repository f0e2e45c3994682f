#include "core/storage/store/backends.hpp"

#include <algorithm>

#include "core/base/text.hpp"
#include "core/config/active_backend.hpp"
#include "core/storage/store/part_layout.hpp"

namespace dash::storage {
namespace {

constexpr std::string_view kObjectStoreLimit =
    "The chunked upload lane ends at 5 GB; place larger objects in the bucket out of band.";
constexpr std::string_view kLocalLimit =
    "Uploads to a file system are sent in one request; for larger files use a cloud backend.";
constexpr std::string_view kAgentLimit =
    "A file travels to the agent inside of a signed job envelope of 256 KB; for larger files use a cloud "
    "backend.";
constexpr std::string_view kStateIsLocal =
    "Infrastructure state stays in the data folder of the dashboard (deploy/) and is lost with it. Make an "
    "object store the active backend, or back that folder up.";
constexpr std::string_view kDefaultPrefix = "config-mgmt";
// Prefixes at the root of a bucket: infrastructure state in both spellings, the image hub, staged uploads,
// checkpoints of the audit log.
constexpr std::array<std::string_view, 5> kReservedPrefixes{"iac-state", "terraform-state", "images",
                                                            ".dashctl-uploads", "dashctl-audit"};

constexpr std::array<Backend, 6> kBackends{{
    {"obj_cloud1", "AWS S3", {"storage_obj_cloud1_bucket", ""}, true, kMaxInlineBytes, kObjectStoreLimit},
    {"obj_cloud2",
     "Azure Blob Storage",
     {"storage_obj_cloud2_account", ""},
     true,
     kMaxInlineBytes,
     kObjectStoreLimit},
    {"obj_cloud3",
     "Google Cloud Storage",
     {"storage_obj_cloud3_bucket", ""},
     true,
     kMaxInlineBytes,
     kObjectStoreLimit},
    {"obj_cloud4",
     "Oracle Object Storage",
     {"storage_obj_cloud4_bucket", ""},
     true,
     kMaxInlineBytes,
     kObjectStoreLimit},
    {"local", "Local folder or SMB share", {"storage_local_path", ""}, false, kMaxInlineBytes, kLocalLimit},
    {"agent_local",
     "File share of a remote agent",
     {"storage_agent_id", "storage_agent_share"},
     false,
     kMaxAgentBytes,
     kAgentLimit},
}};

constexpr Backend kDeployFolder{"local", "Folder of deployments", {"storage_local_path", ""},
                                false,   kMaxInlineBytes,         kLocalLimit};

std::string valid_ids(config::NameStyle style) {
  std::string list;
  for (const auto& backend : kBackends)
    list += (list.empty() ? "" : ", ") + backend_in_style(style, backend.id);
  return list;
}

const Backend* by_id(std::string_view id) {
  for (const auto& backend : kBackends)
    if (backend.id == id) return &backend;
  return nullptr;
}

std::string_view first_segment(std::string_view key) {
  key = trim(key);
  while (key.starts_with('/')) key.remove_prefix(1);
  return key.substr(0, key.find('/'));
}

bool is_runner_locked(const Backend& backend) { return backend.id == "local"; }

OrderedJson describe(const Backend& backend, const config::Values& values, const Backend* active) {
  return {{"id", backend_in_style(name_style_of(values), backend.id)},
          {"label", backend.label},
          {"configured", is_configured(backend, values)},
          {"active", &backend == active},
          {"selectable", !is_runner_locked(backend) || automation_runner(values) == "local"},
          {"runner_locked", is_runner_locked(backend)},
          {"via_agent", backend.id == "agent_local"},
          {"hub_only", false},
          {"hub_only_reason", ""},
          {"max_upload_bytes", backend.ceiling()},
          {"upload_limit_reason", backend.limit_reason},
          {"chunked_upload", backend.is_chunked()},
          {"inline_upload_bytes", backend.max_inline_bytes},
          {"chunk_part_bytes", kPartBytes},
          {"durable_state", backend.is_object_store},
          {"durable_state_reason", durable_state_reason(&backend)}};
}

}  // namespace

std::string_view durable_state_reason(const Backend* active) {
  return active && active->is_object_store ? "" : kStateIsLocal;
}

std::uint64_t Backend::ceiling() const { return is_chunked() ? kMaxChunkedBytes : max_inline_bytes; }

std::span<const Backend> backends() { return kBackends; }

const Backend& deploy_folder_backend() { return kDeployFolder; }

Result<const Backend*> find_backend(std::string_view text, config::NameStyle style) {
  if (auto* backend = by_id(config::canonical_backend(text))) return backend;
  return fail(Code::invalid, "Unknown backend '{}'. Valid: {}.", text, valid_ids(style));
}

config::NameStyle name_style_of(const config::Values& values) {
  return lower(trim(value_of(values, "cloud_names"))) == "provider" ? config::NameStyle::provider
                                                                    : config::NameStyle::canonical;
}

std::string backend_in_style(config::NameStyle style, std::string_view id) {
  return style == config::NameStyle::provider ? config::provider_backend(id) : std::string(id);
}

std::string value_of(const config::Values& values, std::string_view key) {
  auto it = values.find(std::string(key));
  return it == values.end() ? std::string() : it->second;
}

std::string_view missing_setting(const Backend& backend, const config::Values& values) {
  for (auto key : backend.required)
    if (!key.empty() && trim(value_of(values, key)).empty()) return key;
  return "";
}

bool is_configured(const Backend& backend, const config::Values& values) {
  return missing_setting(backend, values).empty();
}

const Backend* active_backend(const config::Values& values) {
  auto* chosen = by_id(config::canonical_backend(trim(value_of(values, config::kActiveBackendKey))));
  if (chosen && is_configured(*chosen, values)) return chosen;
  bool runner_is_local = automation_runner(values) == "local";
  for (const auto& backend : kBackends)
    if (is_configured(backend, values) && (runner_is_local || !is_runner_locked(backend))) return &backend;
  return nullptr;
}

const Backend* hub_backend(const config::Values& values) {
  auto* chosen = by_id(config::canonical_backend(trim(value_of(values, "storage_hub_backend"))));
  if (!chosen || !is_configured(*chosen, values)) chosen = active_backend(values);
  return chosen && chosen->is_object_store ? chosen : nullptr;
}

std::string automation_runner(const config::Values& values) {
  auto runner = lower(trim(value_of(values, "automation_runner")));
  return runner.empty() ? "local" : runner;
}

std::string asset_prefix(const Backend& backend, const config::Values& values) {
  if (!backend.is_object_store) return "";
  auto text = value_of(values, fmt::format("storage_{}_prefix", backend.id));
  auto prefix = trim(text);
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  return std::string(prefix.empty() ? kDefaultPrefix : prefix) + "/";
}

bool is_reserved(std::string_view key) {
  return std::ranges::count(kReservedPrefixes, first_segment(key)) > 0;
}

Result<void> check_asset_prefix(std::string_view key, std::string_view prefix) {
  auto first = first_segment(prefix);
  if (!is_reserved(prefix)) return {};
  return fail(Code::invalid,
              "{} cannot begin with '{}': the dashboard keeps its own objects there. Choose another prefix",
              key, first);
}

OrderedJson describe_backends(const config::Values& values) {
  auto* active = active_backend(values);
  auto list = OrderedJson::array();
  for (const auto& backend : kBackends) list.push_back(describe(backend, values, active));
  auto runner = name_style_of(values) == config::NameStyle::provider ? "ansible_runner" : "automation_runner";
  return {{"backends", std::move(list)},
          {"active", active ? backend_in_style(name_style_of(values), active->id) : ""},
          {"any_active", active != nullptr},
          {"durable_state", active && active->is_object_store},
          {"durable_state_reason", durable_state_reason(active)},
          {runner, automation_runner(values)}};
}

}  // namespace dash::storage
