#include "core/storage/store/part_streams.hpp"

#include <atomic>
#include <condition_variable>
#include <thread>
#include <vector>

#include "core/storage/store/part_runs.hpp"

namespace dash::storage {
namespace {

constexpr std::chrono::milliseconds kLookEvery{50};

// Cuts the bytes of one run into parts.
class Cutter final : public RandomWriter {
 public:
  Cutter(std::uint64_t size, PartRuns& runs, std::uint32_t first, PartSink& sink)
      : size_(size), runs_(runs), sink_(sink), n_(first) {}

  Result<void> begin(std::string_view front) {
    TRY(begin_part());
    return add(front);
  }
  Result<void> write(std::uint64_t offset, std::string_view bytes) override {
    bytes.remove_prefix(static_cast<std::size_t>(std::min<std::uint64_t>(taken_ - offset, bytes.size())));
    taken_ += bytes.size();
    return add(bytes);
  }
  // Another stream reads the rest of the run.
  bool is_over() const { return is_over_; }

 private:
  Result<void> add(std::string_view bytes) {
    while (!bytes.empty()) {
      if (!is_open_) TRY(go_on());
      auto now = bytes.substr(0, part_length(size_, n_) - filled_);
      TRY(sink_.write(now));
      filled_ += now.size();
      bytes.remove_prefix(now.size());
      TRY(finish_if_whole());
    }
    return {};
  }
  Result<void> go_on() {
    is_over_ = !runs_.take(n_ + 1);
    if (is_over_) return fail(Code::interrupted, "another stream reads the rest");
    ++n_;
    return begin_part();
  }
  Result<void> begin_part() {
    filled_ = 0;
    is_open_ = true;
    TRY(sink_.begin(n_));
    return finish_if_whole();  // an empty object has an empty part
  }
  Result<void> finish_if_whole() {
    if (filled_ < part_length(size_, n_)) return {};
    is_open_ = false;
    return sink_.finish();
  }

  const std::uint64_t size_;
  PartRuns& runs_;
  PartSink& sink_;
  std::uint32_t n_;
  std::size_t filled_ = 0;   // bytes of part n_
  std::uint64_t taken_ = 0;  // bytes of the read
  bool is_open_ = false, is_over_ = false;
};

// All streams of one object.
class Streams {
 public:
  explicit Streams(const PartReading& reading) : reading_(reading), runs_(part_count(reading.size)) {}

  Result<void> run() {
    std::jthread watcher;
    if (reading_.max_streams > 1 && part_count(reading_.size) > 2)
      watcher = std::jthread([this] { watch(); });
    read_runs(&meter_);
    {
      std::lock_guard lock(mutex_);
      is_first_done_ = true;
      changed_.notify_all();
    }
    if (watcher.joinable()) watcher.join();
    if (failed_) return Failure(*std::move(failed_));
    return {};
  }

 private:
  // Starts further streams when the first one is slow.
  void watch() {
    std::vector<std::jthread> others;
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kLookEvery, [this] { return is_first_done_; })) {
      auto pace = meter_.read();
      auto wanted = pace ? std::min(reading_.count(*pace), reading_.max_streams) : 1;
      while (others.size() + 1 < wanted) others.emplace_back([this] { read_runs(nullptr); });
    }
    lock.unlock();  // its threads are joined
  }

  void read_runs(StreamMeter* meter) {
    auto sink = reading_.make_sink();
    while (!is_stopped_) {
      auto run = runs_.begin();
      if (!run) return;
      if (auto done = read_run(*run, *sink, meter); !done) stop(std::move(done).error());
    }
  }

  Result<void> read_run(PartRuns::Run run, PartSink& sink, StreamMeter* meter) {
    Cutter cutter(reading_.size, runs_, run.first, sink);
    auto front = run.first == 1 ? reading_.front : std::string_view();
    TRY(cutter.begin(front));
    auto offset = part_offset(run.first) + front.size();
    auto end = part_offset(run.last) + part_length(reading_.size, run.last);
    if (offset == end) return {};
    Gate gate(*this, cutter, meter);
    auto done = reading_.read({offset, end - offset}, gate);
    if (cutter.is_over()) return {};
    if (gate.refused) return Failure(*std::move(gate.refused));
    return done;
  }

  // Stands between the store and what takes its bytes. An error of that side is none of the store, which must not
  // try again.
  struct Gate final : RandomWriter {
    Gate(Streams& all, Cutter& to, StreamMeter* its) : streams(all), cutter(to), meter(its) {}
    Result<void> write(std::uint64_t offset, std::string_view bytes) override {
      if (meter) meter->arrive(bytes.size());
      auto taken = streams.is_stopped_ ? fail_stopped() : cutter.write(offset, bytes);
      if (meter) meter->settle();
      if (taken) return {};
      refused = std::move(taken).error();
      return fail_stopped();
    }
    static Result<void> fail_stopped() { return fail(Code::interrupted, "the stream is not read on"); }
    Streams& streams;
    Cutter& cutter;
    StreamMeter* meter;
    std::optional<Error> refused;
  };

  void stop(Error error) {
    {
      std::lock_guard lock(mutex_);
      if (is_stopped_.exchange(true)) return;
      failed_ = std::move(error);
    }
    reading_.on_error();
  }

  const PartReading& reading_;
  PartRuns runs_;
  const SystemClock clock_;
  StreamMeter meter_{clock_};  // of the first stream
  std::atomic<bool> is_stopped_ = false;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  bool is_first_done_ = false;
  std::optional<Error> failed_;
};

}  // namespace

Result<void> read_parts(const PartReading& reading) { return Streams(reading).run(); }

}  // namespace dash::storage
