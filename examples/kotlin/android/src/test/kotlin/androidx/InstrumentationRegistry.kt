package androidx.test.platform.app

import android.app.Instrumentation
import android.os.Bundle

object InstrumentationRegistry {
    private var current: Instrumentation? = null

    @JvmStatic
    fun registerInstance(instrumentation: Instrumentation?, @Suppress("unused") arguments: Bundle?) {
        current = instrumentation
    }

    @JvmStatic
    fun getInstrumentation(): Instrumentation = checkNotNull(current) { "no instrumentation is registered" }
}
