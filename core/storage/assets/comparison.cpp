#include "core/storage/assets/comparison.hpp"

#include <map>

#include "core/storage/assets/migration.hpp"
#include "core/storage/store/copy.hpp"
#include "core/storage/store/digest.hpp"
#include "core/storage/store/part_layout.hpp"

namespace dash::storage {
namespace {

Result<std::string> difference(const CompareDeps& deps, const Principal& principal, const Asset& source,
                               const Asset& target) {
  if (source.size != target.size) return fmt::format("{} bytes and {} bytes", source.size, target.size);
  auto one = TRY(content_digest(deps, principal, source.backend, source.name));
  auto other = TRY(content_digest(deps, principal, target.backend, target.name));
  return one == other ? std::string() : fmt::format("{} and {}", one, other);
}

}  // namespace

Result<std::string> content_digest(const CompareDeps& deps, const Principal& principal,
                                   const std::string& backend, const std::string& name) {
  auto found = TRY(deps.assets.find(principal, backend, name));
  if (!found.asset.digest.empty()) return found.asset.digest;
  auto buffer = TRY(deps.buffers.acquire(kCopyBufferTimeout));
  PartDigests digests;
  for (std::uint32_t n = 1; n <= part_count(found.object.size); ++n) {
    auto bytes = buffer.span().first(part_length(found.object.size, n));
    TRY(read_exactly(*found.store, found.object, part_offset(n), bytes));
    digests.add(crypto::sha256({bytes.data(), bytes.size()}));
  }
  return digests.finish();
}

Result<CompareResult> compare_backends(const CompareDeps& deps, const Principal& principal,
                                       const std::string& source, const std::string& target,
                                       Progress& progress) {
  TRY(require_admin(principal));
  auto pair = TRY(open_two_backends(deps.stores, principal, source, target));
  auto left = TRY(deps.assets.list(principal, pair.from.id()));
  std::map<std::string, Asset> right;
  for (auto& asset : TRY(deps.assets.list(principal, pair.to.id())).items) {
    auto name = asset.name;
    right.emplace(std::move(name), std::move(asset));
  }
  CompareResult out{pair.from.display_id(), pair.to.display_id(), {}, {}, {}, {}};
  std::size_t done = 0;
  for (const auto& asset : left.items) {
    progress.update("assets", done++, left.items.size());
    auto other = right.find(asset.name);
    if (other == right.end()) {
      out.only_source.push_back(asset.name);
      continue;
    }
    auto why = TRY(within(asset.name, difference(deps, principal, asset, other->second)));
    if (why.empty())
      out.same.push_back(asset.name);
    else
      out.different.push_back({asset.name, why});
    right.erase(other);
  }
  for (const auto& [name, asset] : right) out.only_target.push_back(name);
  return out;
}

OrderedJson to_json(const CompareResult& comparison) {
  auto different = OrderedJson::array();
  for (const auto& [name, why] : comparison.different) different.push_back({{"name", name}, {"why", why}});
  return {{"source", comparison.source},          {"target", comparison.target},
          {"ok", comparison.is_same()},           {"same", comparison.same},
          {"different", std::move(different)},    {"only_source", comparison.only_source},
          {"only_target", comparison.only_target}};
}

}  // namespace dash::storage
