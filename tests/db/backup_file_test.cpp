#include "core/db/backup_file.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::db {
namespace {

class Collector final : public TableSink {
 public:
  Result<void> begin(const Table& table) override {
    text += table.name + fmt::format("({})\n", fmt::join(table.columns, ","));
    return {};
  }
  Result<void> row(Params values) override {
    encode_row(values, text);
    ++rows;
    return {};
  }
  Result<void> end() override { return {}; }
  std::string text;
  int rows = 0;
};

class BackupFile : public testing::Test {
 protected:
  // Two tables, one of them larger than a piece, with every kind of value.
  std::string written(const Secret& key, int rows = 300) {
    StringSink out(64u << 20);
    BackupWriter writer(out, key, {7, "2026-01-02T03:04:05Z", "1.2.3", "sqlite", "opaque"});
    must(writer.start());
    must(writer.begin({"small", {"a", "b"}}));
    must(writer.row(Params({nullptr, std::string("text")})));
    must(writer.end());
    must(writer.begin({"large", {"n", "bytes"}}));
    for (int i = 0; i < rows; ++i)
      must(writer.row(Params({std::int64_t{-i}, Blob{std::string(5000, '\0')}})));
    must(writer.end());
    must(writer.finish());
    return out.take();
  }
  Result<void> read(const std::string& bytes, const Secret& key) {
    StringSource in(bytes);
    BackupReader reader(in, key);
    head_ = TRY(reader.start());
    collected_ = Collector();
    return reader.read(collected_);
  }
  const Secret key_{std::string(32, 'k')};
  BackupHead head_;
  Collector collected_;
};

TEST_F(BackupFile, GivesBackEveryRow) {
  must(read(written(key_), key_));
  EXPECT_EQ(head_.schema, 7);
  EXPECT_EQ(head_.made_by, "1.2.3");
  EXPECT_EQ(head_.settings_key, "opaque");
  EXPECT_EQ(collected_.rows, 301);
  EXPECT_TRUE(collected_.text.starts_with("small(a,b)\n" + std::string("nt\0\0\0\4text", 10)));
}

TEST_F(BackupFile, ShowsNoRowToWhoHasNotTheKey) {
  auto bytes = written(key_);
  EXPECT_EQ(bytes.find("text"), std::string::npos);
  EXPECT_EQ(read(bytes, Secret(std::string(32, 'x'))).error().code, Code::conflict);
}

TEST_F(BackupFile, IsRefusedWhereverItIsCut) {
  auto bytes = written(key_, 3);
  for (std::size_t size = 0; size < bytes.size(); size += size < 600 ? 1 : 97)
    EXPECT_EQ(read(bytes.substr(0, size), key_).error().code, Code::integrity) << size;
}

TEST_F(BackupFile, IsRefusedWithAnyByteChangedOrAdded) {
  auto bytes = written(key_, 3);
  for (std::size_t at = 0; at < bytes.size(); at += at < 600 ? 1 : 97) {
    auto changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_EQ(read(changed, key_).error().code, Code::integrity) << at;
  }
  EXPECT_EQ(read(bytes + 'x', key_).error().code, Code::integrity);
}

// Pieces are bound to their file and their place.
TEST_F(BackupFile, IsRefusedWithPiecesOfAnotherBackup) {
  auto one = written(key_), other = written(key_);
  ASSERT_EQ(one.size(), other.size());
  auto half = one.size() - 200'000;
  EXPECT_EQ(read(one.substr(0, half) + other.substr(half), key_).error().code, Code::integrity);
}

TEST_F(BackupFile, IsRefusedBeforeAHugeLengthIsBelieved) {
  EXPECT_EQ(read("dashctl backup\n\xff\xff\xff\xff" + std::string(100, 'x'), key_).error().code,
            Code::integrity);
  EXPECT_EQ(read(std::string(1 << 20, '\0'), key_).error().code, Code::integrity);
}

}  // namespace
}  // namespace dash::db
