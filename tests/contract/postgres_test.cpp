// What PostgreSQL alone promises: connections that are cut, waited for or ended. Its address comes from DATABASE_URL.
#include "core/db/postgres.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "core/db/schema.hpp"
#include "core/net/http/http_client.hpp"
#include "tests/support/fault_proxy.hpp"
#include "tests/support/must.hpp"
#include "tests/support/wait_until.hpp"

namespace dash::db {
namespace {

TEST(Postgres, ThatGoesAwayIsBusyAndItsAddressIsNotTold) {
  std::string url = std::getenv("DATABASE_URL");
  auto host = url.find('@') + 1, path = url.find('/', host);
  auto http = net::make_curl_client();
  auto proxy = std::make_unique<FaultProxy>(*http, std::getenv("TOXIPROXY_URL"),
                                            "http://" + url.substr(host, path - host));
  auto address = proxy->url().substr(std::string_view("http://").size());
  auto sql = must(open_postgres(url.substr(0, host) + address + url.substr(path)));
  proxy.reset();
  auto nothing = [](Transaction&) -> Result<void> { return {}; };
  for (const auto& done : {sql->read(nothing), sql->write(nothing)}) {
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::busy);
    EXPECT_EQ(done.error().message.find(address), std::string::npos) << done.error().message;
    EXPECT_TRUE(done.error().retry_after);
  }
}

// PostgreSQL behind a proxy that can cut its connections.
class PostgresBehindAProxy : public testing::Test {
 protected:
  void SetUp() override {
    std::string url = std::getenv("DATABASE_URL");
    auto host = url.find('@') + 1, path = url.find('/', host);
    direct_ = must(open_postgres(url));
    must(direct_->write([](Transaction& tx) -> Result<void> {
      TRY(tx.exec("DROP SCHEMA public CASCADE"));
      TRY(tx.exec("CREATE SCHEMA public"));
      return {};
    }));
    must(migrate_schema(*direct_));
    proxy_ = std::make_unique<FaultProxy>(*http_, std::getenv("TOXIPROXY_URL"),
                                          "http://" + url.substr(host, path - host));
    sql_ = must(open_postgres(url.substr(0, host) + proxy_->url().substr(std::string_view("http://").size()) +
                              url.substr(path)));
  }
  static Result<void> insert(Transaction& tx) {
    TRY(tx.exec("INSERT INTO workgroups VALUES ('team', '', 0, NULL, 0)"));
    return {};
  }
  std::int64_t number(const std::string& query) {
    return must(read<std::int64_t>(*direct_, [&](Transaction& tx) -> Result<std::int64_t> {
      return TRY(tx.query(query)).at(0).integer(0);
    }));
  }
  std::unique_ptr<net::HttpClient> http_ = net::make_curl_client();
  std::unique_ptr<Sql> direct_, sql_;
  std::unique_ptr<FaultProxy> proxy_;
};

TEST_F(PostgresBehindAProxy, FindsOutThatACommitWasMadeWhoseAnswerWasCut) {
  std::jthread healer;
  auto done = sql_->write([&](Transaction& tx) -> Result<void> {
    TRY(insert(tx));
    proxy_->cut_after(0, FaultProxy::Direction::to_client);
    healer = std::jthread([&] {
      EXPECT_TRUE(wait_until([&] { return number("SELECT COUNT(*) FROM workgroups") == 1; }));
      proxy_->heal();
    });
    return {};
  });
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_EQ(number("SELECT COUNT(*) FROM workgroups"), 1);
}

TEST_F(PostgresBehindAProxy, FindsOutThatACommitNeverArrived) {
  std::jthread healer;
  auto done = sql_->write([&](Transaction& tx) -> Result<void> {
    TRY(insert(tx));
    proxy_->cut_after(0, FaultProxy::Direction::to_server);
    healer = std::jthread([&] {
      EXPECT_TRUE(wait_until([&] {
        return number(R"(SELECT COUNT(*) FROM pg_stat_activity
                         WHERE datname = current_database() AND state LIKE 'idle in%')") == 0;
      }));
      proxy_->heal();
    });
    return {};
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::busy);
  EXPECT_NE(done.error().message.find("nothing was written"), std::string::npos) << done.error().message;
  EXPECT_TRUE(done.error().retry_after);
  EXPECT_EQ(number("SELECT COUNT(*) FROM workgroups"), 0);
  EXPECT_TRUE(sql_->write(insert)) << "and it can be made again";
}

TEST_F(PostgresBehindAProxy, GoesOnWithNewConnectionsAfterItsOldOnesWereCut) {
  auto nothing = [](Transaction&) -> Result<void> { return {}; };
  must(sql_->read(nothing));
  must(sql_->write(nothing));
  must(sql_->data_version());
  must(direct_->read([](Transaction& tx) -> Result<void> {
    TRY(tx.query(R"(SELECT pg_terminate_backend(pid)::int FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid())"));
    return {};
  }));
  EXPECT_TRUE(sql_->read(nothing));
  EXPECT_TRUE(sql_->write(nothing));
  EXPECT_TRUE(sql_->data_version());
}

TEST(Postgres, RefusesAReadThatWaitsTooLongForAConnection) {
  auto sql =
      must(open_postgres(std::getenv("DATABASE_URL"), {.readers = 1, .wait = std::chrono::milliseconds(50)}));
  must(sql->read([&](Transaction&) -> Result<void> {
    auto second = sql->read([](Transaction&) -> Result<void> { return {}; });
    EXPECT_FALSE(second);
    if (!second) {
      EXPECT_EQ(second.error().code, Code::busy);
      EXPECT_NE(second.error().message.find("all 1 connections"), std::string::npos);
      EXPECT_TRUE(second.error().retry_after);
    }
    return {};
  }));
  EXPECT_TRUE(sql->read([](Transaction&) -> Result<void> { return {}; }));
}

TEST(Postgres, EndsAStatementThatTakesTooLongButNotAWalk) {
  auto sql = must(open_postgres(std::getenv("DATABASE_URL"), {.statement = std::chrono::milliseconds(200)}));
  auto slow = sql->read([](Transaction& tx) -> Result<void> {
    TRY(tx.query("SELECT 1 FROM (SELECT pg_sleep(60)) AS s"));
    return {};
  });
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().code, Code::busy);
  auto walk = sql->read([](Transaction& tx) {
    return tx.each("SELECT 1 FROM (SELECT pg_sleep(0.4)) AS s", {},
                   [](const Row&) -> Result<void> { return {}; });
  });
  EXPECT_TRUE(walk) << walk.error().message;
}

TEST(Postgres, NamesTheHostsOfAnAddressAndNeverItsPassword) {
  auto refused =
      open_postgres("postgres://ann:hunter2@127.0.0.1:1,127.0.0.1:2/dash?target_session_attrs=read-write");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unreachable);
  EXPECT_NE(refused.error().message.find("127.0.0.1:1,127.0.0.1:2"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ((refused.error().message + refused.error().detail).find("hunter2"), std::string::npos);
}

}  // namespace
}  // namespace dash::db
