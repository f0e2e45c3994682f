// Sending to an instance that takes parts in order, one at a time: two are on their way, and neither an
// overtaken part nor a lost answer loses anything.
#include <gtest/gtest.h>

#include <condition_variable>
#include <fstream>

#include "core/client/send.hpp"
#include "tests/support/storage_instance.hpp"

namespace dash::client {
namespace {

// What has happened to the parts, to wait for.
class Course {
 public:
  void note(const std::string& what) {
    std::lock_guard lock(mutex_);
    seen_.insert(what);
    changed_.notify_all();
  }
  void wait_for(const std::string& what) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::minutes(2), [&] { return seen_.contains(what); }))
        << what;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> seen_;
};

// An instance behind a network: `on_the_way` decides what happens to a part between the two.
class InOrderClient final : public StorageClient, public UploadClient {
 public:
  using Put = std::function<Result<Json>()>;
  InOrderClient(storage::Replica& at, const Principal& principal)
      : at_(at),
        principal_(principal),
        client_(open_local_storage_client({at.storage, at.migrations, principal, "data"})) {}
  std::function<Result<Json>(std::uint32_t n, const std::function<void()>& left, const Put& put)> on_the_way;
  std::atomic<bool> is_cut_off = false;

  Result<storage::Sequence> sequence() override { return storage::Sequence::in_order; }
  Result<Json> put_part(const std::string& handle, std::uint32_t n, const storage::Payload& part,
                        const std::function<void()>& left) override {
    return on_the_way(n, left, [&]() -> Result<Json> {
      return Json(to_json(TRY(at_.uploads.put_part(principal_, handle, n, part, ""))));
    });
  }

  std::string name() const override { return client_->name(); }
  UploadClient& uploads() override { return *this; }
  Result<Json> backends() override { return client_->backends(); }
  Result<Json> list(const std::string& backend, const std::string& cursor) override {
    return client_->list(backend, cursor);
  }
  Result<Json> remove(const std::string& asset) override { return client_->remove(asset); }
  Result<Json> test(const std::string& backend, bool is_deep) override {
    return client_->test(backend, is_deep);
  }
  Result<Json> compare(const storage::CompareRequest& request, Progress& progress) override {
    return client_->compare(request, progress);
  }
  Result<Json> sweep(const storage::SweepRequest& request) override { return client_->sweep(request); }
  Result<Json> migrate(const storage::MigrateRequest& request, Progress& progress) override {
    return client_->migrate(request, progress);
  }
  void stop_migration() override { client_->stop_migration(); }
  Result<Json> states() override { return client_->states(); }
  Result<Json> state(const std::string& job) override { return client_->state(job); }
  Result<Json> state_history(const std::string& job) override { return client_->state_history(job); }
  Result<Json> unlock_state(const std::string& job, const std::string& id) override {
    return client_->unlock_state(job, id);
  }
  Result<Json> upload(const std::string& asset, std::uint64_t size, Source& content) override {
    return client_->upload(asset, size, content);
  }
  Result<Json> begin(const std::string& asset, std::uint64_t size) override {
    return client_->uploads().begin(asset, size);
  }
  Result<Json> status(const std::string& handle) override { return client_->uploads().status(handle); }
  Result<Json> commit(const std::string& handle, const Json& parts) override {
    return client_->uploads().commit(handle, parts);
  }
  Result<Json> abort(const std::string& handle) override {
    if (is_cut_off) return fail(Code::unreachable, "no answer");
    return client_->uploads().abort(handle);
  }
  Result<OpenAssetResult> open(const std::string& backend, const std::string& asset,
                               std::span<char> first) override {
    return client_->open(backend, asset, first);
  }

 private:
  storage::Replica& at_;
  Principal principal_;
  std::unique_ptr<StorageClient> client_;
};

std::string at(std::string_view what, std::uint32_t n) { return fmt::format("{} {}", what, n); }

class SendInOrder : public testing::Test {
 protected:
  SendInOrder() {
    for (std::size_t i = 0; i < bytes.size(); i += 61) bytes[i] = static_cast<char>(i * 7 + i / 251);
    std::ofstream(path, std::ios::binary) << bytes;
  }
  Result<Json> try_send() {
    auto target = must(active_target(must(client.backends()), ""));
    return send_file(must(plan_send(path, target)),
                     {client, buffers, [](std::uint64_t) {}, world.scratch / "journals", "root"});
  }
  // What the store has in the end is what was sent.
  Json send() {
    auto sent = must(try_send());
    EXPECT_TRUE(world.store().bytes_of("config-mgmt/a.rpm") == bytes);
    return sent;
  }
  storage::StorageFixture world;
  storage::Replica one{world};
  BufferPool buffers{8};
  InOrderClient client{one, world.admin};
  std::string path = world.scratch / "a.rpm";
  std::string bytes = std::string(3 * kPartBytes + 9, '\0');  // four parts
  Course course;
};

TEST_F(SendInOrder, APartComesOverWhileTheOneBeforeItIsStored) {
  std::atomic<int> on_their_way = 0, most = 0;
  client.on_the_way = [&](std::uint32_t n, const auto& left, const auto& put) {
    most = std::max<int>(most, ++on_their_way);
    course.note(at("came", n));
    left();
    if (n == 1) course.wait_for(at("came", 2));
    auto answer = put();
    --on_their_way;
    return answer;
  };
  EXPECT_FALSE(send().value("digest", "").empty());
  EXPECT_EQ(most, 2);
  EXPECT_EQ(world.store().part_calls, 4);
}

TEST_F(SendInOrder, APartThatOvertookAnotherIsSentAgain) {
  std::atomic<bool> has_overtaken = false;
  client.on_the_way = [&](std::uint32_t n, const auto& left, const auto& put) {
    left();
    if (n == 2) course.wait_for("overtaken");
    auto answer = put();
    if (n == 3 && !has_overtaken.exchange(true)) {
      EXPECT_EQ(answer.error().code, Code::invalid);
      course.note("overtaken");
    }
    return answer;
  };
  EXPECT_FALSE(send().value("digest", "").empty());
  EXPECT_EQ(world.store().part_calls, 4);
}

TEST_F(SendInOrder, APartWhoseAnswerWasLostIsThereWhenItsSuccessorIs) {
  std::atomic<bool> is_lost = false;
  client.on_the_way = [&](std::uint32_t n, const auto& left, const auto& put) -> Result<Json> {
    left();
    if (n > 1) course.wait_for(at("stored", n - 1));
    auto answer = put();
    course.note(at("stored", n));
    if (n == 2 && !is_lost.exchange(true)) {
      course.wait_for(at("stored", 3));
      return fail(Code::unreachable, "connection cut");
    }
    return answer;
  };
  EXPECT_FALSE(send().value("digest", "").empty());
  EXPECT_EQ(world.store().part_calls, 4);
}

TEST_F(SendInOrder, TwoPartsWhoseAnswersAKillTookAreNotSentAgain) {
  client.is_cut_off = true;
  client.on_the_way = [&](std::uint32_t n, const auto& left, const auto& put) -> Result<Json> {
    left();
    if (n > 1 && client.is_cut_off) course.wait_for(at("stored", n - 1));
    auto answer = put();
    course.note(at("stored", n));
    if (n == 1 || !client.is_cut_off) return answer;
    course.wait_for(at("stored", 3));
    return fail(Code::forbidden, "no answer");
  };
  EXPECT_FALSE(try_send());
  client.is_cut_off = false;
  auto sent = send();
  EXPECT_EQ(sent["resumed_parts"], 3);
  EXPECT_FALSE(sent.value("digest", "").empty());
  EXPECT_EQ(world.store().part_calls, 4);
}

TEST_F(SendInOrder, APartThatFailsForGoodEndsTheUploadAndLeavesNothing) {
  client.on_the_way = [&](std::uint32_t n, const auto& left, const auto& put) -> Result<Json> {
    left();
    if (n == 2) return fail(Code::forbidden, "no more");
    return put();
  };
  auto sent = try_send();
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Code::forbidden);
  EXPECT_EQ(world.store().open_uploads(), 0u);
}

}  // namespace
}  // namespace dash::client
