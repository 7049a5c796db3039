package dev.kassa.server.junit

import dev.kassa.server.KassaServer
import dev.kassa.server.KassaServerOptions
import org.junit.jupiter.api.extension.BeforeEachCallback
import org.junit.jupiter.api.extension.ExtendWith
import org.junit.jupiter.api.extension.ExtensionContext
import org.junit.jupiter.api.extension.ExtensionContext.Namespace
import org.junit.jupiter.api.extension.ParameterContext
import org.junit.jupiter.api.extension.ParameterResolver

/**
 * Gives the tests of a class a running server with a sandbox behind it: as a parameter of type [KassaServer].
 *
 * One process serves the whole run. Tests share its data and may run in parallel: give each order its own reference.
 *
 * ```
 * @WithKassaServer
 * class CheckoutTest {
 *     @Test
 *     fun `who pays gets the order`(server: KassaServer) { ... }
 * }
 * ```
 */
@Target(AnnotationTarget.CLASS, AnnotationTarget.FUNCTION)
@Retention(AnnotationRetention.RUNTIME)
@ExtendWith(KassaServerExtension::class)
public annotation class WithKassaServer

/**
 * The same as [WithKassaServer], for other options: register it as a static field with `@RegisterExtension`. There is one process in a
 * run for the same options.
 */
public class KassaServerExtension @JvmOverloads constructor(
    private val options: KassaServerOptions = KassaServerOptions(),
) : BeforeEachCallback, ParameterResolver {

    /** A server that an earlier test has killed runs again. */
    override fun beforeEach(context: ExtensionContext): Unit = with(server(context)) { if (!isRunning) restart() }

    /** True for a [KassaServer]. */
    override fun supportsParameter(parameter: ParameterContext, context: ExtensionContext): Boolean =
        parameter.parameter.type == KassaServer::class.java

    /** The server. */
    override fun resolveParameter(parameter: ParameterContext, context: ExtensionContext): Any = server(context)

    // Its successor exists in JUnit 6 alone. A store closes what is in it when the run ends; the server ends with the JVM anyway.
    @Suppress("DEPRECATION")
    private fun server(context: ExtensionContext): KassaServer {
        val store = context.root.getStore(NAMESPACE)
        return checkNotNull(store.getOrComputeIfAbsent(options, { KassaServer.start(options) }, KassaServer::class.java))
    }

    private companion object {
        private val NAMESPACE = Namespace.create(KassaServerExtension::class.java)
    }
}
