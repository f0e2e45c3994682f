#include "cmd/cli/interrupt.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <mutex>
#include <thread>

#include "cmd/cli/printer.hpp"
#include "core/base/error.hpp"
#include "core/base/json.hpp"

namespace dash::cmd {
namespace {

std::mutex blocker_mutex;
std::mutex message_mutex;
std::string interrupt_message = "nothing was written";
std::function<void()> undo_at_end;
std::array<int, 2> wake_pipe = {-1, -1};

void on_signal(int) {
  char byte = 1;
  // Only async-signal-safe calls are allowed here. A full pipe already has a wake-up.
  [[maybe_unused]] auto n = ::write(wake_pipe[1], &byte, 1);
}

void put(int fd, const std::string& text) { [[maybe_unused]] auto n = ::write(fd, text.data(), text.size()); }

void end_process(bool is_json) {
  std::scoped_lock lock(blocker_mutex, message_mutex);
  if (undo_at_end) undo_at_end();
  auto message = "interrupted: " + interrupt_message;
  put(STDERR_FILENO, "\nerror: " + printable(message) + "\n");
  if (is_json) {
    OrderedJson document;
    document["schema"] = 1;
    document["error"]["code"] = info(Code::interrupted).word;
    document["error"]["message"] = message;
    put(STDOUT_FILENO, dump_json(document) + "\n");
  }
  ::_exit(info(Code::interrupted).exit_code);
}

}  // namespace

void watch_interrupts(bool is_json) {
  if (::pipe2(wake_pipe.data(), O_CLOEXEC) != 0) return;
  std::thread([is_json] {
    char byte = 0;
    while (::read(wake_pipe[0], &byte, 1) != 1) {
    }
    end_process(is_json);
  }).detach();
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // nohup and background shells ignore the signal; that setting is kept.
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);
  }
}

void set_interrupt_message(std::string message) {
  std::lock_guard lock(message_mutex);
  interrupt_message = std::move(message);
}

OnInterrupt::OnInterrupt(std::function<void()> undo) {
  std::lock_guard lock(message_mutex);
  undo_at_end = std::move(undo);
}
OnInterrupt::~OnInterrupt() {
  std::lock_guard lock(message_mutex);
  undo_at_end = nullptr;
}

InterruptBlocker::InterruptBlocker() { blocker_mutex.lock(); }
InterruptBlocker::~InterruptBlocker() { blocker_mutex.unlock(); }

}  // namespace dash::cmd
