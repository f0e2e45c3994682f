#include "core/storage/upload/commit_list.hpp"

#include <algorithm>

#include "core/base/shape.hpp"
#include "core/storage/store/digest.hpp"
#include "core/storage/store/part_layout.hpp"

namespace dash::storage {
namespace {

struct PartEntry {
  std::uint64_t n = 0;
  std::string ref;
};

Result<PartEntry> read_entry(const Json& entry) {
  if (entry.is_number_unsigned()) return PartEntry{entry.get<std::uint64_t>(), ""};
  if (!entry.is_object() || !entry.contains("part") || !entry["part"].is_number_unsigned())
    return wrong_type("parts", "list of part numbers or of {part, ref}");
  auto ref = entry.find("ref");
  if (ref == entry.end() || ref->is_null()) return PartEntry{entry["part"].get<std::uint64_t>(), ""};
  if (!ref->is_string()) return wrong_type("parts", "list of part numbers or of {part, ref}");
  return PartEntry{entry["part"].get<std::uint64_t>(), ref->get<std::string>()};
}

Result<void> check_count(std::uint64_t sent, std::uint32_t count) {
  if (sent == count) return {};
  return fail(Code::invalid, "the upload has {} parts, not {}", count, sent);
}

}  // namespace

Result<CommitList> read_commit_list(const Secret& key, const Handle& handle, const Json& parts) {
  auto count = part_count(handle.size);
  CommitList list(count);
  if (parts.is_number_unsigned()) {
    TRY(check_count(parts.get<std::uint64_t>(), count));
    return list;
  }
  if (!parts.is_array()) return wrong_type("parts", "count, list of part numbers or list of {part, ref}");
  std::vector<bool> seen(count);
  for (const auto& entry : parts) {
    auto named = TRY(read_entry(entry));
    if (named.n < 1 || named.n > count)
      return fail(Code::invalid, "part {} is outside of 1 to {}", named.n, count);
    if (seen[named.n - 1]) return fail(Code::invalid, "part {} is named twice", named.n);
    seen[named.n - 1] = true;
    if (named.ref.empty()) continue;
    auto ref = TRY(open_part_ref(key, handle.id, named.ref));
    if (ref.n != named.n)
      return fail(Code::invalid, "the ref sent for part {} is that of part {}", named.n, ref.n);
    list[named.n - 1] = std::move(ref);
  }
  auto missing = std::ranges::find(seen, false);
  if (missing != seen.end())
    return fail(Code::invalid, "part {} is missing from parts", missing - seen.begin() + 1);
  return list;
}

Failure replaced_part(std::uint32_t n) {
  return fail(Code::invalid, "part {} was replaced in the store after its ref was given; send it again", n);
}

Result<void> check_against_store(const CommitList& list, const std::vector<StagedPart>& staged) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i] || list[i]->store_ref.empty() || staged[i].ref.empty() ||
        list[i]->store_ref == staged[i].ref)
      continue;
    return replaced_part(static_cast<std::uint32_t>(i + 1));
  }
  return {};
}

void fill_refs(const CommitList& list, std::vector<StagedPart>& staged) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i] && staged[i].ref.empty()) staged[i].ref = list[i]->store_ref;
}

std::string digest_of(const CommitList& list) {
  PartDigests digests;
  for (const auto& part : list) {
    if (!part) return "";
    digests.add(part->sha256);
  }
  return digests.finish();
}

}  // namespace dash::storage
