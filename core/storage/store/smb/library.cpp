#include "core/storage/store/smb/library.hpp"

#include <dlfcn.h>

namespace dash::storage::smb {
namespace {

template <class F>
bool find(void* handle, const char* name, F& function) {
  function = reinterpret_cast<F>(::dlsym(handle, name));
  return function != nullptr;
}

}  // namespace

Result<Library> load_library() {
  void* handle = ::dlopen("libsmbclient.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return fail(Code::unsupported,
                "an SMB share needs the library libsmbclient (Debian: the package libsmbclient)");
  Library l{};
  bool is_whole =
      find(handle, "smbc_new_context", l.new_context) && find(handle, "smbc_init_context", l.init_context) &&
      find(handle, "smbc_set_context", l.set_context) && find(handle, "smbc_setDebug", l.set_debug) &&
      find(handle, "smbc_setPort", l.set_port) && find(handle, "smbc_setTimeout", l.set_timeout) &&
      find(handle, "smbc_setFunctionAuthData", l.set_auth) &&
      find(handle, "smbc_setOptionNoAutoAnonymousLogin", l.set_no_anonymous) &&
      find(handle, "smbc_open", l.open) && find(handle, "smbc_read", l.read) &&
      find(handle, "smbc_write", l.write) && find(handle, "smbc_lseek", l.lseek) &&
      find(handle, "smbc_close", l.close) && find(handle, "smbc_fstat", l.fstat) &&
      find(handle, "smbc_stat", l.stat) && find(handle, "smbc_unlink", l.unlink) &&
      find(handle, "smbc_rename", l.rename) && find(handle, "smbc_mkdir", l.mkdir) &&
      find(handle, "smbc_rmdir", l.rmdir) && find(handle, "smbc_opendir", l.opendir) &&
      find(handle, "smbc_readdirplus2", l.readdir) && find(handle, "smbc_closedir", l.closedir);
  if (!is_whole)
    return fail(Code::unsupported, "the installed libsmbclient is too old: Samba 4.13 or later is needed");
  return l;
}

}  // namespace dash::storage::smb
