// What administrators read about the versions of infrastructure state.
#pragma once
#include <string>
#include <string_view>

#include "core/storage/store/store.hpp"

namespace dash::storage {

inline std::string_view versioning_word(Versioning versioning) {
  if (versioning == Versioning::unknown) return "unknown";
  return versioning == Versioning::on ? "on" : "off";
}

// Returns what is the case, and what to do unless versions are kept.
inline std::string versioning_text(Versioning versioning, bool is_object_store) {
  if (versioning == Versioning::on) return "versioning is on";
  if (!is_object_store)
    return "versioning is off: a file system keeps no versions of infrastructure state; back up the folder "
           "deploy of the data folder, or make an object store the active backend";
  if (versioning == Versioning::off)
    return "versioning is off: infrastructure state that is overwritten or deleted cannot be brought back; "
           "switch versioning on for this store";
  return "whether versioning is on could not be found out: let this account read the bucket's settings, or "
         "look there; versioning is recommended for infrastructure state";
}

}  // namespace dash::storage
