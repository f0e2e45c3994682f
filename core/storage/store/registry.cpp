#include "core/storage/store/registry.hpp"

#include <array>

#include "core/base/text.hpp"
#include "core/storage/store/agent/store.hpp"
#include "core/storage/store/azure_blob/store.hpp"
#include "core/storage/store/gcs/store.hpp"
#include "core/storage/store/local/file_store.hpp"
#include "core/storage/store/local/folder_tree.hpp"
#include "core/storage/store/oci/store.hpp"
#include "core/storage/store/retry.hpp"
#include "core/storage/store/s3/store.hpp"
#include "core/storage/store/smb/share_tree.hpp"

namespace dash::storage {
namespace {

using OpenFn = Result<std::unique_ptr<ObjectStore>> (*)(const config::Values&, const StoreDeps&);

struct Row {
  std::string_view id;
  OpenFn open;
};

Result<std::unique_ptr<ObjectStore>> open_cloud1(const config::Values& values, const StoreDeps& deps) {
  return s3::open_s3(values, deps.http, deps.clock);
}

Result<std::unique_ptr<ObjectStore>> open_cloud2(const config::Values& values, const StoreDeps& deps) {
  return azure_blob::open_azure_blob(values, deps.http, deps.clock);
}

Result<std::unique_ptr<ObjectStore>> open_cloud3(const config::Values& values, const StoreDeps& deps) {
  return gcs::open_gcs(values, deps.http, deps.clock);
}

Result<std::unique_ptr<ObjectStore>> open_cloud4(const config::Values& values, const StoreDeps& deps) {
  return oci::open_oci(values, deps.http, deps.clock);
}

std::string local_path(std::string_view setting) {
  auto path = trim(setting);
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return std::string(path);
}

const local::RootRules& rules_of(const StoreDeps& deps) {
  static const local::RootRules system_only({});
  return deps.roots ? *deps.roots : system_only;
}

Result<std::unique_ptr<ObjectStore>> open_file_system(const config::Values& values, const StoreDeps& deps) {
  auto path = local_path(value_of(values, "storage_local_path"));
  if (smb::is_unc(path))
    return local::make_file_store(smb::open_share_tree(TRY(smb::read_share(values)), deps.program),
                                  deps.clock);
  return local::make_file_store(TRY(local::open_folder_tree(path, &rules_of(deps))), deps.clock);
}

Result<std::unique_ptr<ObjectStore>> open_agent(const config::Values& values, const StoreDeps&) {
  return agent::open_agent_share(values);
}

constexpr std::array kStores{
    Row{"obj_cloud1", open_cloud1}, Row{"obj_cloud2", open_cloud2}, Row{"obj_cloud3", open_cloud3},
    Row{"obj_cloud4", open_cloud4}, Row{"local", open_file_system}, Row{"agent_local", open_agent},
};

}  // namespace

Result<std::unique_ptr<ObjectStore>> open_bare_store(const Backend& backend, const config::Values& values,
                                                     const StoreDeps& deps) {
  if (&backend == &deploy_folder_backend())
    return local::make_file_store(
        TRY(local::open_folder_tree(value_of(values, "storage_local_path"), nullptr)), deps.clock);
  for (const auto& row : kStores)
    if (row.id == backend.id) return row.open(values, deps);
  return fail(Code::unsupported, "this build has no store for '{}'", backend.id);
}

Result<void> check_local_root(std::string_view setting, const local::RootRules& rules) {
  auto path = local_path(setting);
  if (path.empty()) return {};
  if (!smb::is_unc(path)) return rules.check(path);
  TRY(smb::read_share({{"storage_local_path", path}}));  // "//etc" names no share
  return {};
}

Result<std::shared_ptr<ObjectStore>> open_store(const Backend& backend, const config::Values& values,
                                                const StoreDeps& deps) {
  return with_retry(TRY(open_bare_store(backend, values, deps)));
}

}  // namespace dash::storage
