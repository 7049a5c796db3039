package dev.kassa.sandbox.junit

import dev.kassa.sandbox.Sandbox
import dev.kassa.sandbox.SandboxOptions
import org.junit.jupiter.api.extension.BeforeEachCallback
import org.junit.jupiter.api.extension.ExtendWith
import org.junit.jupiter.api.extension.ExtensionContext
import org.junit.jupiter.api.extension.ExtensionContext.Namespace
import org.junit.jupiter.api.extension.ParameterContext
import org.junit.jupiter.api.extension.ParameterResolver
import org.junit.jupiter.api.parallel.ResourceLock

/**
 * Gives the tests of a class a running sandbox in which nothing has happened yet: as a parameter of type [Sandbox].
 *
 * One process serves the whole run, and tests that share it run sequentially, even if JUnit runs others in parallel.
 *
 * ```
 * @WithSandbox
 * class CheckoutTest {
 *     @Test
 *     fun `lost response never charges twice`(sandbox: Sandbox) { ... }
 * }
 * ```
 */
@Target(AnnotationTarget.CLASS, AnnotationTarget.FUNCTION)
@Retention(AnnotationRetention.RUNTIME)
@ExtendWith(SandboxExtension::class)
@ResourceLock(SandboxExtension.LOCK)
public annotation class WithSandbox

/**
 * The same as [WithSandbox], for other options: register it as a static field with `@RegisterExtension`. A run has one process per set of
 * options. If JUnit runs tests in parallel, give them `@ResourceLock(SandboxExtension.LOCK)`.
 */
public class SandboxExtension @JvmOverloads constructor(private val options: SandboxOptions = SandboxOptions()) :
    BeforeEachCallback,
    ParameterResolver {

    /** What an earlier test did to the sandbox is gone, even killing it. */
    override fun beforeEach(context: ExtensionContext): Unit = with(sandbox(context)) { if (isRunning) reset() else restart() }

    /** True for a [Sandbox]. */
    override fun supportsParameter(parameter: ParameterContext, context: ExtensionContext): Boolean =
        parameter.parameter.type == Sandbox::class.java

    /** The sandbox. */
    override fun resolveParameter(parameter: ParameterContext, context: ExtensionContext): Any = sandbox(context)

    // Its successor exists in JUnit 6 alone. A store closes what is in it when the run ends; the sandbox ends with the JVM anyway.
    @Suppress("DEPRECATION")
    private fun sandbox(context: ExtensionContext): Sandbox {
        val store = context.root.getStore(NAMESPACE)
        return checkNotNull(store.getOrComputeIfAbsent(options, { Sandbox.start(options) }, Sandbox::class.java))
    }

    /** Names. */
    public companion object {
        /** The name of the lock that tests with a shared sandbox hold, see `@ResourceLock`. */
        public const val LOCK: String = "dev.kassa.sandbox"
        private val NAMESPACE = Namespace.create(SandboxExtension::class.java)
    }
}
