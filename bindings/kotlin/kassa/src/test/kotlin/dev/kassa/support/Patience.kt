package dev.kassa.support

/** The upper bound of a wait, in seconds. The environment variable `KASSA_PATIENCE` multiplies it on a slow machine. */
val PATIENCE_SECONDS: Long = (60 * (System.getenv("KASSA_PATIENCE") ?: "1").toDouble()).toLong()
