// A page of a listing, out of files that come in any order: the first ones after the cursor. Holds no more than
// a page of them. Called by file_store.cpp.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/storage/store/store.hpp"

namespace dash::storage::local {

// Every page takes a walk through the folders.
inline constexpr std::size_t kPageEntries = 5000;

class FilePage {
 public:
  // `prefix` and `cursor`, the last key of the page before, must outlive it.
  FilePage(std::string_view prefix, std::string_view cursor) : prefix_(prefix), cursor_(cursor) {}

  bool may_have(std::string_view key) const;
  // Returns whether a key that begins with `folder`, which ends with '/', can be in the page.
  bool may_have_beneath(std::string_view folder) const;
  void add(Object object);
  ObjectPage take() &&;

 private:
  bool is_before_end(std::string_view key) const;
  std::string_view prefix_;
  std::string_view cursor_;
  std::vector<Object> heap_;  // the last key is in front; one more than a page when there is another page
};

}  // namespace dash::storage::local
