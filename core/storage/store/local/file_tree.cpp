#include "core/storage/store/local/file_tree.hpp"

namespace dash::storage::local {

FileEntry entry_of_stat(std::string name, const struct stat& st) {
  auto nanoseconds = std::chrono::seconds(st.st_mtim.tv_sec) + std::chrono::nanoseconds(st.st_mtim.tv_nsec);
  return {std::move(name),
          S_ISREG(st.st_mode)   ? FileKind::file
          : S_ISDIR(st.st_mode) ? FileKind::folder
                                : FileKind::other,
          static_cast<std::uint64_t>(st.st_size),
          Time(std::chrono::duration_cast<Time::duration>(nanoseconds)),
          fmt::format("{:x}-{:x}", st.st_size, nanoseconds.count())};
}

}  // namespace dash::storage::local
