#include "core/storage/settings/state_copy.hpp"

#include "core/storage/settings/state_document.hpp"
#include "core/storage/store/copy.hpp"
#include "core/storage/store/digest.hpp"
#include "core/storage/store/part_layout.hpp"

namespace dash::storage {
namespace {

Result<std::string> digest_of(ObjectStore& store, const Object& object, BufferPool& buffers) {
  auto buffer = TRY(buffers.acquire(kCopyBufferTimeout));
  PartDigests digests;
  for (std::uint32_t n = 1; n <= part_count(object.size); ++n) {
    auto part = buffer.span().first(part_length(object.size, n));
    TRY(read_exactly(store, object, part_offset(n), part));
    digests.add(crypto::sha256({part.data(), part.size()}));
  }
  return digests.finish();
}

Result<void> compare(const StatePlace& from, const StatePlace& to, const Object& target, StateCopy& copy) {
  copy.is_new = false;
  if (copy.job.empty() || target.size == 0) return {};
  if (copy.source.size > kMaxStateBytes || target.size > kMaxStateBytes) {
    copy.conflict = "it is too large to be compared";
    return {};
  }
  auto ours = TRY(from.read(copy.source));
  auto theirs = TRY(to.read(target));
  auto relation = relation_of(ours, theirs);
  copy.is_same = relation == StateRelation::same_bytes;
  if (relation == StateRelation::newer_or_other) copy.conflict = conflict_text(ours, theirs);
  return {};
}

// The source and its copy, both read again.
Result<void> check_copy(const StateCopy& copy, const StatePlace& from, const StatePlace& to,
                        BufferPool& buffers) {
  auto source = from.store().head(copy.source.key);
  if (!source && source.error().code != Code::not_found) return Failure(std::move(source).error());
  if (!source || source->etag != copy.source.etag)
    return fail(Code::conflict,
                "'{}' changed while it was copied, so nothing was switched. Wait until the program that "
                "writes it ends, then send this again.",
                copy.source.key);
  auto target = TRY(to.store().head(copy.key));
  bool is_equal = target.size == source->size && TRY(digest_of(from.store(), *source, buffers)) ==
                                                     TRY(digest_of(to.store(), target, buffers));
  if (is_equal) return {};
  return fail(Code::integrity, "{} returns other bytes for '{}' than were copied", to.store().place(),
              copy.key);
}

}  // namespace

Result<std::vector<StateCopy>> plan_state_copy(const StatePlace& from, const StatePlace& to) {
  auto found = TRY(from.list());
  std::vector<StateCopy> plan;
  std::set<std::string> keys;
  auto add = [&](std::string job, const Object& object) -> Result<void> {
    auto key = to.translated_key(object.key);
    if (!keys.insert(key).second)
      return fail(Code::conflict,
                  "'{}' and another state would both become '{}'. Delete the one that is not used, then "
                  "send this again.",
                  object.key, key);
    auto source = TRY(from.store().head(object.key));
    StateCopy copy{.job = std::move(job), .source = std::move(source), .key = std::move(key)};
    auto target = to.store().head(copy.key);
    if (!target && target.error().code != Code::not_found) return Failure(std::move(target).error());
    if (target) TRY(compare(from, to, *target, copy));
    plan.push_back(std::move(copy));
    return {};
  };
  for (const auto& state : found.states)
    if (state.exists) TRY(add(state.job, state.object));
  for (const auto& object : found.others) TRY(add("", object));
  return plan;
}

Result<void> run_state_copy(const std::vector<StateCopy>& plan, const StatePlace& from, const StatePlace& to,
                            BufferPool& buffers) {
  for (const auto& copy : plan) {
    if (copy.is_same) continue;
    CopySource source{from.store(), copy.source, ""};
    CopyOptions options{.only_if_absent = copy.is_new};
    TRY(copy_object(source, to.store(), copy.key, options, buffers));
  }
  for (const auto& copy : plan) TRY(check_copy(copy, from, to, buffers));
  return {};
}

}  // namespace dash::storage
