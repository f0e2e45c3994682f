// The few functions of libsmbclient that worker.cpp calls. They are loaded at run time (dlopen), so that
// neither the build nor an instance without a share needs the library. Signatures: libsmbclient.h of Samba
// 4.17 (ABI SMBCLIENT_0). One thread, one process: the library is not thread-safe.
#pragma once
#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <ctime>

#include "core/base/error.hpp"

namespace dash::storage::smb {

struct Context;  // SMBCCTX

// The beginning of struct libsmb_file_info, as far as it is read.
struct FileInfo {
  std::uint64_t size;
  std::uint16_t attributes;
  uid_t uid;
  gid_t gid;
  timespec born, modified, accessed, changed;
  const char* name;
};

using Authenticate = void (*)(const char* server, const char* share, char* workgroup, int workgroup_size,
                              char* user, int user_size, char* password, int password_size);

struct Library {
  Context* (*new_context)();
  Context* (*init_context)(Context*);
  Context* (*set_context)(Context*);
  void (*set_debug)(Context*, int);
  void (*set_port)(Context*, std::uint16_t);
  void (*set_timeout)(Context*, int milliseconds);
  void (*set_auth)(Context*, Authenticate);
  void (*set_no_anonymous)(Context*, int);
  int (*open)(const char* url, int flags, mode_t mode);
  ssize_t (*read)(int file, void* out, std::size_t size);
  ssize_t (*write)(int file, const void* bytes, std::size_t size);
  off_t (*lseek)(int file, off_t offset, int whence);
  int (*close)(int file);
  int (*fstat)(int file, struct stat*);
  int (*stat)(const char* url, struct stat*);
  int (*unlink)(const char* url);
  int (*rename)(const char* from, const char* to);
  int (*mkdir)(const char* url, mode_t mode);
  int (*rmdir)(const char* url);
  int (*opendir)(const char* url);
  const FileInfo* (*readdir)(unsigned folder, struct stat*);
  int (*closedir)(int folder);
};

// Code::unsupported when the library is not installed.
Result<Library> load_library();

}  // namespace dash::storage::smb
