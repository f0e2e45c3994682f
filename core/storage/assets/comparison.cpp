#include "core/storage/assets/comparison.hpp"

#include <map>

#include "core/storage/assets/migration.hpp"
#include "core/storage/store/copy.hpp"
#include "core/storage/store/digest.hpp"
#include "core/storage/store/plan.hpp"

namespace dash::storage {
namespace {

// The recorded digest, else one read from the content.
Result<std::string> digest_of(const CompareSeams& seams, const Principal& who, const std::string& backend,
                              const std::string& name) {
  auto found = TRY(seams.assets.find(who, backend, name));
  if (!found.asset.digest.empty()) return found.asset.digest;
  auto buffer = TRY(seams.parts.take(kCopyPatience));
  PartDigests digests;
  for (std::uint32_t n = 1; n <= part_count(found.object.size); ++n) {
    auto bytes = buffer.span().first(part_length(found.object.size, n));
    TRY(read_exactly(*found.store, found.object, part_offset(n), bytes));
    digests.add(crypto::sha256({bytes.data(), bytes.size()}));
  }
  return digests.finish();
}

Result<std::string> difference(const CompareSeams& seams, const Principal& who, const Asset& source,
                               const Asset& target) {
  if (source.size != target.size) return fmt::format("{} bytes and {} bytes", source.size, target.size);
  auto one = TRY(digest_of(seams, who, source.backend, source.name));
  auto other = TRY(digest_of(seams, who, target.backend, target.name));
  return one == other ? std::string() : fmt::format("{} and {}", one, other);
}

}  // namespace

Result<Comparison> compare_backends(const CompareSeams& seams, const Principal& who,
                                    const std::string& source, const std::string& target,
                                    Progress& progress) {
  TRY(require_admin(who));
  auto pair = TRY(open_two_backends(seams.stores, who, source, target));
  auto left = TRY(seams.assets.list(who, pair.from.id()));
  std::map<std::string, Asset> right;
  for (auto& asset : TRY(seams.assets.list(who, pair.to.id())).items) {
    auto name = asset.name;
    right.emplace(std::move(name), std::move(asset));
  }
  Comparison out{pair.from.shown_id(), pair.to.shown_id(), {}, {}, {}, {}};
  std::size_t done = 0;
  for (const auto& asset : left.items) {
    progress.update("assets", done++, left.items.size());
    auto other = right.find(asset.name);
    if (other == right.end()) {
      out.only_source.push_back(asset.name);
      continue;
    }
    auto why = TRY(within(asset.name, difference(seams, who, asset, other->second)));
    if (why.empty())
      out.same.push_back(asset.name);
    else
      out.different.push_back({asset.name, why});
    right.erase(other);
  }
  for (const auto& [name, asset] : right) out.only_target.push_back(name);
  return out;
}

OrderedJson to_json(const Comparison& comparison) {
  auto different = OrderedJson::array();
  for (const auto& [name, why] : comparison.different) different.push_back({{"name", name}, {"why", why}});
  return {{"source", comparison.source},          {"target", comparison.target},
          {"ok", comparison.is_same()},           {"same", comparison.same},
          {"different", std::move(different)},    {"only_source", comparison.only_source},
          {"only_target", comparison.only_target}};
}

}  // namespace dash::storage
