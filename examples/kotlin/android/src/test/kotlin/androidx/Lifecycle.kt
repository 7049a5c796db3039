package androidx.test.runner.lifecycle

enum class Stage { PRE_ON_CREATE, CREATED, STARTED, RESUMED, PAUSED, STOPPED, RESTARTED, DESTROYED }

enum class ApplicationStage { PRE_ON_CREATE, CREATED }

interface ActivityLifecycleCallback

interface ActivityLifecycleMonitor

interface ApplicationLifecycleMonitor

object ActivityLifecycleMonitorRegistry {
    @JvmStatic
    fun registerInstance(@Suppress("unused") monitor: ActivityLifecycleMonitor?) = Unit
}

object ApplicationLifecycleMonitorRegistry {
    @JvmStatic
    fun registerInstance(@Suppress("unused") monitor: ApplicationLifecycleMonitor?) = Unit
}
