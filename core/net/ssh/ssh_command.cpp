#include "core/net/ssh/ssh_command.hpp"

#include <array>

namespace dash::net {
namespace {

struct ChannelDeleter {
  void operator()(LIBSSH2_CHANNEL* c) const { libssh2_channel_free(c); }
};

class RemoteCommand {
 public:
  RemoteCommand(const SshSession::State& state, Steady::time_point due, std::size_t max_output)
      : state_(state), due_(due), max_output_(max_output) {}

  Result<ProcessResult> run(const std::string& command) {
    TRY(start(command));
    while (libssh2_channel_eof(channel_.get()) == 0) {
      TRY(read_all(0, output_.out));
      TRY(read_all(SSH_EXTENDED_DATA_STDERR, output_.err));
      if (Steady::now() >= due_)
        return fail(Code::timeout, "the command at {} did not end in time", state_.host_and_port());
      if (libssh2_channel_eof(channel_.get()) == 0) state_.wait(due_);
    }
    TRY(end());
    return std::move(output_);
  }

 private:
  Result<void> must(Result<int> rc) const {
    if (TRY(std::move(rc)) != 0) return state_.connection_error();
    return {};
  }

  Result<void> start(const std::string& command) {
    TRY(state_.finish(due_, [&] {
      channel_.reset(libssh2_channel_open_session(state_.raw()));
      return channel_ ? 0 : libssh2_session_last_errno(state_.raw());
    }));
    if (!channel_) return state_.connection_error();
    TRY(must(state_.finish(due_, [&] { return libssh2_channel_exec(channel_.get(), command.c_str()); })));
    return must(state_.finish(due_, [&] { return libssh2_channel_send_eof(channel_.get()); }));
  }

  // Reads what is available, without waiting.
  Result<void> read_all(int stream, std::string& into) {
    for (;;) {
      auto n = libssh2_channel_read_ex(channel_.get(), stream, buffer_.data(), buffer_.size());
      if (n == 0 || n == LIBSSH2_ERROR_EAGAIN) return {};
      if (n < 0) return state_.connection_error();
      into.append(buffer_.data(), static_cast<std::size_t>(n));
      if (into.size() > max_output_)
        return fail(Code::too_large, "the command at {} wrote more than {} bytes", state_.host_and_port(),
                    max_output_);
    }
  }

  // The exit status comes before the close.
  Result<void> end() {
    TRY(must(state_.finish(due_, [&] { return libssh2_channel_close(channel_.get()); })));
    TRY(must(state_.finish(due_, [&] { return libssh2_channel_wait_closed(channel_.get()); })));
    output_.exit.code = libssh2_channel_get_exit_status(channel_.get());
    char* signal = nullptr;
    libssh2_channel_get_exit_signal(channel_.get(), &signal, nullptr, nullptr, nullptr, nullptr, nullptr);
    if (!signal) return {};
    std::string name = signal;
    libssh2_free(state_.raw(), signal);
    return fail(Code::unreachable, "the command at {} was ended by SIG{}", state_.host_and_port(), name);
  }

  const SshSession::State& state_;
  Steady::time_point due_;
  std::size_t max_output_;
  std::unique_ptr<LIBSSH2_CHANNEL, ChannelDeleter> channel_;
  std::array<char, 32768> buffer_{};
  ProcessResult output_;
};

}  // namespace

Result<ProcessResult> run_remote(const SshSession::State& state, const std::string& command,
                                 Steady::time_point due, std::size_t max_output) {
  return RemoteCommand(state, due, max_output).run(command);
}

}  // namespace dash::net
