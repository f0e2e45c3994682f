// Sends and receives files through the local client: in parallel, resumed, bounded, and never half.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/base/file.hpp"
#include "core/client/journal.hpp"
#include "core/client/receive.hpp"
#include "core/client/send.hpp"
#include "tests/support/storage_instance.hpp"

namespace dash::client {
namespace {

namespace fs = std::filesystem;

class TransferTest : public testing::Test {
 protected:
  std::string make(const std::string& name, std::size_t size) {
    auto path = world.scratch / name;
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; i += 61) bytes[i] = static_cast<char>(i * 7 + i / 251);
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  std::string text_of(const std::string& path) { return must(read_file(path, 8 * kPartBytes)); }
  Result<Json> send(const std::string& path) {
    auto target = must(active_target(must(client->backends()), ""));
    moved = 0;
    return send_file(
        must(plan_send(path, target)),
        {*client, buffers, [this](std::uint64_t n) { moved += n; }, world.scratch / "journals", "ann"});
  }
  ReceiveDeps receiving() {
    return {*client, buffers, [](std::uint64_t) {}, [](std::uint64_t) {}, ""};
  }
  std::size_t journals() {
    auto folder = world.scratch / "journals";
    return fs::exists(folder) ? static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}))
                              : 0;
  }

  storage::StorageFixture world;
  storage::Replica one{world};
  BufferPool buffers{4};
  std::unique_ptr<StorageClient> client =
      open_local_storage_client({one.storage, one.migrations, world.admin, "data"});
  std::atomic<std::uint64_t> moved = 0;
};

}  // namespace

TEST_F(TransferTest, SendsAndTakesFilesOfEveryLengthAtTheBoundary) {
  for (auto size : {std::size_t{0}, std::size_t{1}, kPartBytes - 1, kPartBytes, kPartBytes + 1,
                    2 * kPartBytes, 5 * kPartBytes + 7}) {
    auto path = make("a.rpm", size);
    auto sent = must(send(path));
    EXPECT_EQ(moved, size);
    EXPECT_TRUE(world.store().bytes_of("config-mgmt/a.rpm") == text_of(path)) << size;
    auto got = must(receive_file("a.rpm", world.scratch / "back", receiving()));
    EXPECT_TRUE(text_of(world.scratch / "back") == text_of(path)) << size;
    EXPECT_EQ(got.size, size);
    EXPECT_EQ(got.digest, sent.value("digest", ""));
    EXPECT_TRUE(got.is_verified) << size;
  }
  EXPECT_EQ(journals(), 0u);
  EXPECT_EQ(world.store().open_uploads(), 0u);
}

TEST_F(TransferTest, ReadsALargeAssetWithOneRequestAfterItsFront) {
  auto path = make("a.rpm", 2 * kPartBytes);
  must(send(path));
  std::ignore = world.store().take_reads();
  must(receive_file("a.rpm", world.scratch / "back", receiving()));
  auto reads = world.store().take_reads();
  ASSERT_EQ(reads.size(), 2u);
  EXPECT_EQ(reads[1].end(), 2 * kPartBytes);
  EXPECT_TRUE(text_of(world.scratch / "back") == text_of(path));
}

TEST_F(TransferTest, GoesOnAtTheByteWhereAStreamBrokeOff) {
  auto path = make("a.rpm", 3 * kPartBytes + 7);
  must(send(path));
  constexpr std::uint64_t kFront = 1u << 20;  // comes with the first answer
  for (auto offset : {kFront + 1, std::uint64_t{kPartBytes}, kPartBytes + 5, 3 * kPartBytes + 6}) {
    world.store().cut_read_at = offset;
    std::ignore = world.store().take_reads();
    must(receive_file("a.rpm", world.scratch / "back", receiving()));
    EXPECT_EQ(std::ranges::count(world.store().take_reads(), offset, &ByteRange::offset), 1) << offset;
    EXPECT_TRUE(text_of(world.scratch / "back") == text_of(path)) << offset;
  }
}

TEST_F(TransferTest, StreamsPartsInTheirOrder) {
  auto path = make("a.rpm", 6 * kPartBytes + 5);
  must(send(path));
  StringSink out(8 * kPartBytes);
  auto got = must(receive_stream("a.rpm", out, receiving()));
  EXPECT_EQ(got.size, out.text().size());
  EXPECT_TRUE(out.text() == text_of(path));
}

TEST_F(TransferTest, StopsWhenTheReaderOfAStreamGoesAway) {
  must(send(make("a.rpm", 6 * kPartBytes)));
  FunctionSink gone(
      [](std::string_view) -> Result<void> { return fail(Code::internal, "the pipe is closed"); });
  EXPECT_EQ(receive_stream("a.rpm", gone, receiving()).error().code, Code::internal);
}

TEST_F(TransferTest, OneFreeBufferIsEnough) {
  std::vector<Buffer> taken;
  while (buffers.available() > 1) taken.push_back(buffers.try_acquire());
  auto path = make("a.rpm", 4 * kPartBytes);
  must(send(path));
  must(receive_file("a.rpm", world.scratch / "back", receiving()));
  EXPECT_TRUE(text_of(world.scratch / "back") == text_of(path));
}

TEST_F(TransferTest, GoesOnWhereAKilledRunStopped) {
  auto path = make("a.rpm", 5 * kPartBytes);
  auto handle = must(client->uploads().begin("a.rpm", 5 * kPartBytes)).value("handle", "");
  auto bytes = text_of(path);
  JournalEntry left{handle, {}};
  for (std::uint32_t n : {1u, 2u, 4u}) {  // 4 had come before 3
    auto part = std::string_view(bytes).substr((n - 1) * kPartBytes, kPartBytes);
    auto ref = must(client->uploads().put_part(handle, n, part, [] {})).value("ref", "");
    if (n <= 2) left.refs.push_back(ref);
  }
  struct stat st {};
  ASSERT_EQ(::stat(path.c_str(), &st), 0);
  Journal journal(world.scratch / "journals", client->name(), "ann",
                  {fs::absolute(path).string(), st.st_dev, st.st_ino, static_cast<std::uint64_t>(st.st_size),
                   std::int64_t{st.st_mtim.tv_sec} * 1'000'000'000 + st.st_mtim.tv_nsec});
  must(journal.write(left));
  auto before = world.store().part_calls;
  auto sent = must(send(path));
  EXPECT_EQ(sent.value("resumed_parts", 0), 2);
  EXPECT_EQ(world.store().part_calls - before, 3);
  EXPECT_TRUE(world.store().bytes_of("config-mgmt/a.rpm") == bytes);
  EXPECT_EQ(must(receive_file("a.rpm", world.scratch / "back", receiving())).digest,
            sent.value("digest", ""));
  EXPECT_EQ(journals(), 0u);
}

TEST_F(TransferTest, DiscardsInTheStoreWhatCannotBeFinished) {
  auto path = make("a.rpm", 3 * kPartBytes);
  must(one.scopes.set(world.admin, "obj_cloud1", "a.rpm", "web"));
  client = open_local_storage_client({one.storage, one.migrations, world.bob, "data"});
  EXPECT_EQ(send(path).error().code, Code::conflict);
  EXPECT_EQ(world.store().open_uploads(), 0u);
  EXPECT_FALSE(world.store().has("config-mgmt/a.rpm"));
}

TEST_F(TransferTest, AFailedFetchLeavesTheOldFileAndNothingElse) {
  auto back = world.scratch / "out/back";
  fs::create_directories(world.scratch / "out");
  std::ofstream(back) << "old";
  EXPECT_EQ(receive_file("none.rpm", back, receiving()).error().code, Code::not_found);
  must(send(make("a.rpm", 3 * kPartBytes)));
  // Changes the content behind the digest that the instance has recorded.
  auto etag_stays = std::string(3 * kPartBytes, 'x');
  must(world.store().put("config-mgmt/a.rpm", etag_stays, {"p8:" + std::string(64, '0')}));
  EXPECT_EQ(receive_file("a.rpm", back, receiving()).error().code, Code::integrity);
  EXPECT_EQ(text_of(back), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(world.scratch / "out"), {}), 1);
}

TEST_F(TransferTest, PlansTheLaneBySizeAndRefusesWhatTheBackendCannotTake) {
  auto target = must(active_target(must(client->backends()), "s3"));
  EXPECT_EQ(must(plan_send(make("a.rpm", kPartBytes), target)).lane, "inline");
  EXPECT_EQ(must(plan_send(make("a.rpm", kPartBytes + 1), target)).lane, "chunked");
  EXPECT_EQ(plan_send(make("a.txt", 1), target).error().code, Code::invalid);
  EXPECT_EQ(plan_send(world.scratch / "none.rpm", target).error().code, Code::not_found);
  EXPECT_EQ(plan_send(world.scratch / "", target).error().code, Code::invalid);
  target.ceiling = 10;
  EXPECT_EQ(plan_send(make("a.rpm", 11), target).error().code, Code::too_large);
  EXPECT_EQ(active_target(must(client->backends()), "gcs").error().code, Code::invalid);
}

}  // namespace dash::client
