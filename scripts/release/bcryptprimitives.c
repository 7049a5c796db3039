/* The function of a library of Windows' that Rust takes random numbers from, for a Wine that has not got it yet (Debian 12's). */
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count) { return RtlGenRandom(bytes, (ULONG)count); }
