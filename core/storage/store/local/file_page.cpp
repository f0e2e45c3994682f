#include "core/storage/store/local/file_page.hpp"

#include <algorithm>

namespace dash::storage::local {

bool FilePage::is_before_end(std::string_view key) const {
  return heap_.size() <= kPageEntries || key < heap_.front().key;
}

bool FilePage::may_have(std::string_view key) const {
  return key.starts_with(prefix_) && key > cursor_ && is_before_end(key);
}

bool FilePage::may_have_beneath(std::string_view folder) const {
  bool has_prefix = folder.starts_with(prefix_.substr(0, folder.size()));
  bool is_after_cursor = folder > cursor_ || cursor_.starts_with(folder);
  return has_prefix && is_after_cursor && is_before_end(folder);
}

void FilePage::add(Object object) {
  if (!may_have(object.key)) return;
  heap_.push_back(std::move(object));
  std::ranges::push_heap(heap_, {}, &Object::key);
  if (heap_.size() <= kPageEntries + 1) return;
  std::ranges::pop_heap(heap_, {}, &Object::key);
  heap_.pop_back();
}

ObjectPage FilePage::take() && {
  std::ranges::sort_heap(heap_, {}, &Object::key);
  ObjectPage page{std::move(heap_), ""};
  if (page.objects.size() <= kPageEntries) return page;
  page.objects.pop_back();
  page.cursor = page.objects.back().key;
  return page;
}

}  // namespace dash::storage::local
