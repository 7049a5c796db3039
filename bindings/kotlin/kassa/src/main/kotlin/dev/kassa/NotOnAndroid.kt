package dev.kassa

/** Marks what uses classes of the JVM that Android lacks. */
@Target(AnnotationTarget.CLASS)
@Retention(AnnotationRetention.BINARY)
internal annotation class NotOnAndroid
