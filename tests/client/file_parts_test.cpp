#include "core/client/file_parts.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/must.hpp"

namespace dash::client {
namespace {

// A file in memory; refuses writes at `refused_from` and beyond.
struct MemoryFile final : RandomWriter {
  Result<void> write(std::uint64_t offset, std::string_view more) override {
    if (offset >= refused_from) return fail(Code::internal, "no space");
    if (bytes.size() < offset + more.size()) bytes.resize(static_cast<std::size_t>(offset) + more.size());
    more.copy(bytes.data() + offset, more.size());
    return {};
  }
  std::string bytes;
  std::uint64_t refused_from = ~std::uint64_t{0};
};

class FilePartsTest : public ::testing::Test {
 protected:
  FilePartsTest() {
    for (std::size_t i = 0; i < content.size(); i += 503) content[i] = static_cast<char>(i / 503);
  }
  // Writes every part to one sink, in pieces that fit no boundary.
  Result<void> write_all(FileParts& parts) {
    auto sink = parts.make_sink();
    for (std::uint32_t n = 1; n <= storage::part_count(content.size()); ++n) {
      auto part =
          std::string_view(content).substr(static_cast<std::size_t>(storage::part_offset(n)), kPartBytes);
      TRY(sink->begin(n));
      for (std::size_t at = 0; at < part.size(); at += 700'001) TRY(sink->write(part.substr(at, 700'001)));
      TRY(sink->finish());
    }
    return parts.finish();
  }
  std::string content = std::string(2 * kPartBytes + 12'345, 'x');
  AlignedMemory memory = allocate_aligned(3u << 20);
  MemoryFile file;
  std::map<std::uint32_t, std::string> hashes;
  FileParts::OnPart on_part = [this](std::uint32_t n, std::string sha256) { hashes[n] = std::move(sha256); };
};

TEST_F(FilePartsTest, WritesAndHashesEachPart) {
  for (bool has_threads : {true, false}) {
    file.bytes.clear();
    hashes.clear();
    FileParts parts(file, {memory.get(), 3u << 20}, has_threads, on_part);
    must(write_all(parts));
    EXPECT_TRUE(file.bytes == content);
    ASSERT_EQ(hashes.size(), 3u);
    EXPECT_EQ(hashes[1], crypto::sha256(content.substr(0, kPartBytes)));
    EXPECT_EQ(hashes[3], crypto::sha256(content.substr(2 * kPartBytes)));
  }
}

TEST_F(FilePartsTest, EndsWithTheErrorOfTheFile) {
  file.refused_from = kPartBytes;
  FileParts parts(file, {memory.get(), 3u << 20}, true, on_part);
  auto failed = write_all(parts);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no space");
}

}  // namespace
}  // namespace dash::client
