// A load generator for the benchmarks: sends one prepared HTTP/1.1 request again and again over kept
// connections, a thread each, and times every exchange. Knows just enough HTTP to find where an answer ends.
//
//   load unix:PATH|HOST:PORT CONNECTIONS REQUESTS STATUS [PERIOD_US] < request
//
// PERIOD_US: each thread begins a request that often, where the answers come in time, so that a server can be asked at the
// rhythm of another one.
// Prints {"requests", "seconds", "cpu_seconds", "min_us", "p50_us", "p99_us"}; REQUESTS is of all together, a
// tenth more goes before them unmeasured. Ends with 1 at the first answer that has another STATUS.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "load: %s\n", what.c_str());
  std::_Exit(1);
}

int open_socket(const std::string& address) {
  if (address.starts_with("unix:")) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::strncpy(to.sun_path, address.c_str() + 5, sizeof to.sun_path - 1);
    int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) die("cannot connect");
    return fd;
  }
  auto colon = address.rfind(':');
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::atoi(address.c_str() + colon + 1)));
  ::inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
  int fd = ::socket(AF_INET, SOCK_STREAM, 0), on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) die("cannot connect");
  return fd;
}

// Where the answer in `in` ends; npos while there is more to come.
std::size_t end_of(const std::string& in) {
  auto head = in.find("\r\n\r\n");
  if (head == in.npos) return in.npos;
  for (std::size_t line = 0; line < head; line = in.find("\r\n", line) + 2) {
    if (::strncasecmp(in.c_str() + line, "content-length:", 15) == 0) {
      auto end = head + 4 + std::strtoul(in.c_str() + line + 15, nullptr, 10);
      return in.size() < end ? in.npos : end;
    }
    if (::strncasecmp(in.c_str() + line, "transfer-encoding:", 18) == 0)
      return in.ends_with("0\r\n\r\n") ? in.size() : in.npos;
  }
  die("an answer without a length");
}

void exchange(int fd, const std::string& request, const std::string& status) {
  if (::send(fd, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
    die("cannot send");
  std::string in;
  char buffer[16384];
  while (end_of(in) == in.npos) {
    auto n = ::recv(fd, buffer, sizeof buffer, 0);
    if (n <= 0) die("the connection was lost");
    in.append(buffer, static_cast<std::size_t>(n));
  }
  if (in.compare(9, 3, status) != 0) die(in);
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](timeval t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) die("usage: load ADDRESS CONNECTIONS REQUESTS STATUS [PERIOD_US] < request");
  const std::string address = argv[1], status = argv[4];
  const std::chrono::microseconds period(argc == 6 ? std::atoi(argv[5]) : 0);
  const int connections = std::atoi(argv[2]), each = std::max(1, std::atoi(argv[3]) / connections);
  const std::string request{std::istreambuf_iterator<char>(std::cin), {}};
  std::vector<std::vector<double>> taken(static_cast<std::size_t>(connections));
  std::vector<std::jthread> threads;
  std::barrier warm(connections + 1), done(connections + 1);
  for (auto& mine : taken)
    threads.emplace_back([&] {
      int fd = open_socket(address);
      for (int i = 0; i < each / 10 + 1; ++i) exchange(fd, request, status);
      warm.arrive_and_wait();
      auto next = Clock::now();
      for (int i = 0; i < each; ++i) {
        std::this_thread::sleep_until(next);
        auto begin = Clock::now();
        next = begin + period;
        exchange(fd, request, status);
        mine.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
      }
      done.arrive_and_wait();
      ::close(fd);
    });
  warm.arrive_and_wait();
  auto begin = Clock::now();
  auto cpu = cpu_seconds();
  done.arrive_and_wait();
  std::chrono::duration<double> seconds = Clock::now() - begin;
  cpu = cpu_seconds() - cpu;
  std::vector<double> all;
  for (const auto& mine : taken) all.insert(all.end(), mine.begin(), mine.end());
  std::ranges::sort(all);
  auto at = [&](double share) {
    return all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
  };
  std::printf(
      "{\"requests\": %zu, \"seconds\": %.4f, \"cpu_seconds\": %.3f, \"min_us\": %.0f, \"p50_us\": %.0f, "
      "\"p99_us\": "
      "%.0f}\n",
      all.size(), seconds.count(), cpu, all[0], at(0.5), at(0.99));
}
