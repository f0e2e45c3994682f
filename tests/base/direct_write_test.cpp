#include "core/base/direct_write.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>

#include "core/base/file.hpp"
#include "tests/support/must.hpp"
#include "tests/support/scratch.hpp"

namespace dash {
namespace {

constexpr std::size_t kMemoryBytes = 16 * kDirectBlockBytes;

AlignedMemory pattern() {
  auto memory = allocate_aligned(kMemoryBytes);
  for (std::size_t i = 0; i < kMemoryBytes; ++i) memory[i] = static_cast<char>(i % 251);
  return memory;
}

Fd open_new(const std::string& path) {
  return Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

}  // namespace

TEST(DirectWriter, WritesBlocksAndWhatIsLessThanABlockWhereverTheyAreAndLie) {
  Scratch scratch;
  auto memory = pattern();
  for (std::size_t from : {0u, 1u, 16u})
    for (std::uint64_t offset : {0u, 5u, 4096u, 4100u})
      for (std::size_t size : {0u, 1u, 4095u, 4096u, 4097u, 40000u}) {
        SCOPED_TRACE(fmt::format("from {}, offset {}, size {}", from, offset, size));
        auto path = scratch / fmt::format("{}-{}-{}", from, offset, size);
        auto fd = open_new(path);
        std::string_view bytes(memory.get() + from, size);
        ASSERT_TRUE(DirectWriter(fd.get()).write(offset, bytes));
        auto expected = size == 0 ? std::string() : std::string(offset, '\0') + std::string(bytes);
        EXPECT_TRUE(must(read_file(path, 1 << 20)) == expected);
      }
}

TEST(DirectWriter, WritesAFileWithoutAName) {
  Scratch scratch;
  Fd fd(::open((scratch / "").c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600));
  auto memory = pattern();
  std::string_view bytes(memory.get(), kMemoryBytes - 7);
  ASSERT_TRUE(DirectWriter(fd.get()).write(0, bytes));
  std::string read(kMemoryBytes, '\0');
  read.resize(static_cast<std::size_t>(::pread(fd.get(), read.data(), read.size(), 0)));
  EXPECT_TRUE(read == bytes);
}

TEST(DirectWriter, WritesWhereThereIsNoDiskAndNoWayRoundTheCache) {
  Fd fd(::memfd_create("cached", MFD_CLOEXEC));
  auto memory = pattern();
  ASSERT_TRUE(DirectWriter(fd.get()).write(0, {memory.get(), kMemoryBytes}));
  struct stat st {};
  ASSERT_EQ(::fstat(fd.get(), &st), 0);
  EXPECT_EQ(st.st_size, static_cast<off_t>(kMemoryBytes));
}

TEST(DirectWriter, TellsWhyItCannotWrite) {
  Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  auto memory = pattern();
  errno = 0;
  EXPECT_FALSE(DirectWriter(full.get()).write(0, {memory.get(), kMemoryBytes}));
  EXPECT_EQ(errno, ENOSPC);
}

}  // namespace dash
