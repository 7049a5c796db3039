package dev.kassa.android.ui.support

/**
 * The upper bound of a wait, in seconds. The first test of a process also waits for Android and Compose to start, which can take more than a
 * minute. The environment variable `KASSA_PATIENCE` multiplies it on a slow machine.
 */
val PATIENCE_SECONDS: Long = (240 * (System.getenv("KASSA_PATIENCE") ?: "1").toDouble()).toLong()
