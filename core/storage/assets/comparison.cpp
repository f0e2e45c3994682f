#include "core/storage/assets/comparison.hpp"

#include "core/storage/assets/migration.hpp"
#include "core/storage/store/copy.hpp"

namespace dash::storage {
namespace {

// Ends a comparison that nobody waits for any more.
class AbandonWatch final : public CopyWatch {
 public:
  explicit AbandonWatch(const std::function<bool()>& is_abandoned) : is_abandoned_(is_abandoned) {}
  Result<void> before_piece(std::uint64_t) override {
    if (is_abandoned_ && is_abandoned_()) return fail(Code::interrupted, "the comparison was stopped");
    return {};
  }
  void after_piece(std::uint64_t) override {}

 private:
  const std::function<bool()>& is_abandoned_;
};

struct SideDigest {
  std::string digest;
  std::string recorded;  // empty: none
  bool is_as_recorded() const { return recorded.empty() || recorded == digest; }
};

Result<SideDigest> digest_of_side(const CompareDeps& deps, const Principal& principal,
                                  const CompareRequest& request, const Asset& asset) {
  auto found = TRY(deps.assets.find(principal, asset.backend, asset.name));
  const auto& recorded = found.asset.digest;
  if (!recorded.empty() && !request.is_download) return SideDigest{recorded, recorded};
  AbandonWatch watch(request.is_abandoned);
  return SideDigest{TRY(read_digest(*found.store, found.object, deps.buffers, &watch)), recorded};
}

// Returns why the two differ; empty: they do not.
Result<std::string> difference(const CompareDeps& deps, const Principal& principal,
                               const CompareRequest& request, const Asset& source, const Asset& target) {
  if (source.size != target.size) return fmt::format("{} bytes and {} bytes", source.size, target.size);
  auto one = TRY(digest_of_side(deps, principal, request, source));
  auto other = TRY(digest_of_side(deps, principal, request, target));
  if (one.digest != other.digest) return fmt::format("{} and {}", one.digest, other.digest);
  for (const auto& [side, backend] : {std::pair(one, source.backend), std::pair(other, target.backend)})
    if (!side.is_as_recorded())
      return fmt::format("on {} the content is {}, and {} was recorded", backend, side.digest, side.recorded);
  return std::string();
}

// Whether the rest cannot be compared either.
bool ends_comparison(const Error& error) {
  return error.code == Code::unreachable || error.code == Code::interrupted;
}

}  // namespace

Result<std::string> content_digest(const CompareDeps& deps, const Principal& principal,
                                   const std::string& backend, const std::string& name) {
  auto found = TRY(deps.assets.find(principal, backend, name));
  if (!found.asset.digest.empty()) return found.asset.digest;
  return read_digest(*found.store, found.object, deps.buffers);
}

Result<CompareResult> compare_backends(const CompareDeps& deps, const Principal& principal,
                                       const CompareRequest& request, Progress& progress) {
  TRY(require_admin(principal));
  auto pair = TRY(open_two_backends(deps.stores, principal, request.source, request.target));
  CompareResult out;
  std::uint64_t done = 0;
  auto restart = [&] {
    out = {pair.from.display_id(), pair.to.display_id(), {}, {}, {}, {}, {}};
    done = 0;
  };
  restart();
  TRY(visit_both(
      deps.assets, principal, pair, restart, [&](const Asset* source, const Asset* target) -> Result<void> {
        progress.update("assets", done++, 0);
        if (!source || !target) {
          (source ? out.only_source : out.only_target).push_back(source ? source->name : target->name);
          return {};
        }
        auto why = difference(deps, principal, request, *source, *target);
        if (!why && ends_comparison(why.error())) return Failure(std::move(why).error().within(source->name));
        if (!why)
          out.failed.push_back({source->name, why.error().message});
        else if (why->empty())
          out.same.push_back(source->name);
        else
          out.different.push_back({source->name, *std::move(why)});
        return {};
      }));
  return out;
}

OrderedJson to_json(const CompareResult& comparison) {
  auto different = OrderedJson::array();
  for (const auto& [name, why] : comparison.different) different.push_back({{"name", name}, {"why", why}});
  auto failed = OrderedJson::array();
  for (const auto& [name, error] : comparison.failed) failed.push_back({{"name", name}, {"error", error}});
  return {{"source", comparison.source},
          {"target", comparison.target},
          {"ok", comparison.is_same()},
          {"same", comparison.same},
          {"different", std::move(different)},
          {"only_source", comparison.only_source},
          {"only_target", comparison.only_target},
          {"failed", std::move(failed)}};
}

}  // namespace dash::storage
