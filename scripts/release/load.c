/* Loads the native library in a process of the system that it was built for, and asks it for the version of its calls: a missing
   symbol or library fails here. usage: load LIBRARY */
#include <stdint.h>
#include <stdio.h>
#ifdef _WIN32
#include <windows.h>
#define OPEN(path) LoadLibraryA(path)
#define FIND(library, name) (void *)GetProcAddress(library, name)
#define WHY() "LoadLibrary failed"
#else
#include <dlfcn.h>
#define OPEN(path) dlopen(path, RTLD_NOW)
#define FIND(library, name) dlsym(library, name)
#define WHY() dlerror()
#endif

int main(int count, char **arguments) {
    if (count != 2) return 2;
    void *library = (void *)OPEN(arguments[1]);
    if (!library) {
        fprintf(stderr, "%s: %s\n", arguments[1], WHY());
        return 1;
    }
    uint32_t (*version)(void) = (uint32_t (*)(void))FIND(library, "ffi_kassa_uniffi_contract_version");
    if (!version) {
        fprintf(stderr, "%s: the library has no such call\n", arguments[1]);
        return 1;
    }
    printf("loads:   the native library, version %u of its calls\n", (unsigned)version());
    return 0;
}
