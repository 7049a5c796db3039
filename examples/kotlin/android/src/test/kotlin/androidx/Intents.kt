package androidx.test.runner.intent

interface IntentMonitor

interface IntentStubber

object IntentMonitorRegistry {
    @JvmStatic
    fun registerInstance(@Suppress("unused") monitor: IntentMonitor?) = Unit
}

object IntentStubberRegistry {
    @JvmStatic
    fun isLoaded(): Boolean = false
}
