package dev.kassa.internal

// UniFFI 0.32.2 renames a record everywhere but in its own methods. No upstream issue; this goes when generated code
// compiles without it.
internal typealias FfiConverterTypeCallback = FfiConverterTypePaymentCallback
