#include "core/net/process/truncate_filter.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>
#include <vector>

namespace dash::net {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif
// The calls of x32 have this bit; their numbers are not those of the table below.
constexpr std::uint32_t kX32Bit = 0x4000'0000;

constexpr std::uint32_t kIoUringSetup = 425, kOpenat2 = 437;  // the same on every processor

constexpr std::uint32_t refusal(int error) {
  return SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(error) & SECCOMP_RET_DATA);
}
constexpr std::uint32_t offset_of_argument(unsigned i) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + i * sizeof(std::uint64_t));
}

class Filter {
 public:
  Filter() {
    load(offsetof(seccomp_data, arch));
    jump(BPF_JEQ, kArchitecture, 1, 0);
    finish(refusal(EPERM));
    load(offsetof(seccomp_data, nr));
    jump(BPF_JGE, kX32Bit, 0, 1);
    finish(refusal(EPERM));
  }
  void refuse(std::uint32_t call, int error) {
    jump(BPF_JEQ, call, 0, 1);
    finish(refusal(error));
  }
  // Refuses O_TRUNC unless the call opens for writing, which Landlock checks before it truncates.
  void refuse_truncating_open(std::uint32_t call, unsigned flags_argument) {
    jump(BPF_JEQ, call, 0, 7);
    load(offset_of_argument(flags_argument));
    jump(BPF_JSET, O_TRUNC, 0, 4);
    add(BPF_ALU | BPF_AND | BPF_K, O_ACCMODE);
    jump(BPF_JEQ, O_WRONLY, 2, 0);
    jump(BPF_JEQ, O_RDWR, 1, 0);
    finish(refusal(EACCES));
    finish(SECCOMP_RET_ALLOW);
  }
  bool install() {
    finish(SECCOMP_RET_ALLOW);
    sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
  }

 private:
  void add(unsigned code, std::uint32_t value) {
    code_.push_back({static_cast<std::uint16_t>(code), 0, 0, value});
  }
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
  void jump(unsigned condition, std::uint32_t value, std::uint8_t if_true, std::uint8_t if_false) {
    code_.push_back({static_cast<std::uint16_t>(BPF_JMP | condition | BPF_K), if_true, if_false, value});
  }
  void finish(std::uint32_t action) { add(BPF_RET | BPF_K, action); }
  std::vector<sock_filter> code_;
};

}  // namespace

bool refuse_truncate() {
  if (kArchitecture == 0) {
    errno = ENOSYS;
    return false;
  }
  Filter filter;
  filter.refuse(SYS_truncate, EACCES);
  filter.refuse(kIoUringSetup, ENOSYS);
  filter.refuse(kOpenat2, ENOSYS);
#ifdef SYS_open
  filter.refuse_truncating_open(SYS_open, 1);
#endif
  filter.refuse_truncating_open(SYS_openat, 2);
  filter.refuse(SYS_open_by_handle_at, EPERM);
  return filter.install();
}

}  // namespace dash::net
