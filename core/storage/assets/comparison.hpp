// Whether two backends hold the same assets, by name, size and content (digests; what has none is read). For
// admins; writes nothing.
#pragma once
#include <string>
#include <vector>

#include "core/base/part_pool.hpp"
#include "core/base/principal.hpp"
#include "core/base/progress.hpp"
#include "core/storage/assets/assets.hpp"

namespace dash::storage {

struct Comparison {
  struct Unlike {
    std::string name;
    std::string why;
  };
  std::string source, target;  // as this instance spells them
  std::vector<std::string> same, only_source, only_target;
  std::vector<Unlike> different;
  bool is_same() const { return only_source.empty() && only_target.empty() && different.empty(); }
};
// {source, target, ok, same, different: [{name, why}], only_source, only_target}
OrderedJson to_json(const Comparison&);

struct CompareSeams {
  Stores& stores;
  Assets& assets;
  PartPool& parts;
};
// Code::invalid for an unknown or unconfigured backend and when both are the same.
Result<Comparison> compare_backends(const CompareSeams& seams, const Principal& who,
                                    const std::string& source, const std::string& target, Progress& progress);

}  // namespace dash::storage
