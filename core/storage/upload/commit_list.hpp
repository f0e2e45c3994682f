// The parts that a client lists at commit: their count, their numbers, or {part, ref} of each.
#pragma once
#include <optional>
#include <vector>

#include "core/base/json.hpp"
#include "core/base/secret.hpp"
#include "core/storage/store/store.hpp"
#include "core/storage/upload/handle.hpp"
#include "core/storage/upload/part_ref.hpp"

namespace dash::storage {

// Indexed by number; nullopt where no ref was sent.
using CommitList = std::vector<std::optional<StagedRef>>;

// Code::invalid unless every part of the handle is named exactly once, in any order; refs must be this
// upload's own.
Result<CommitList> read_commit_list(const Secret& key, const Handle& handle, const Json& parts);
// The error of a ref whose bytes others have replaced.
Failure replaced_part(std::uint32_t n);
// Code::invalid when a ref is not of the bytes that the store holds under its number.
Result<void> check_against_store(const CommitList& list, const std::vector<StagedPart>& staged);
// Where the store itself has no id of a part's bytes, fills in put_part()'s, so that commit() can compare the
// whole.
void fill_refs(const CommitList& list, std::vector<StagedPart>& staged);
// Returns "p8:…", or "" unless every ref was sent.
std::string digest_of(const CommitList& list);

}  // namespace dash::storage
